// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.jmh.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The real server in a process of its own, with a model on GPU 0. Owns the process and the folder with the model. */
final class GpuServer implements AutoCloseable {
    /**
     * The model: it takes an FP32 tensor of any size and copies its first {@link #COPIED_BYTES} bytes, whatever the
     * size is.
     */
    static final String MODEL = "first_page";

    /** Bytes that the kernel copies: the same work for each tensor, so that the other costs of a tensor can be seen. */
    static final int COPIED_BYTES = 4096;

    private static final String CONFIGURATION = """
            backend: "cuda"
            input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { kind: KIND_GPU count: 1 gpus: [ 0 ] } ]
            parameters { key: "kernels" value { string_value: "copy_bytes" } }
            parameters { key: "copy_bytes.grid" value { string_value: "16" } }
            parameters { key: "copy_bytes.block" value { string_value: "256" } }
            parameters { key: "copy_bytes.arguments" value { string_value: "INPUT0, OUTPUT0, int64 4096" } }
            parameters { key: "shape.OUTPUT0" value { string_value: "dim(INPUT0, 0)" } }
            """;

    private final Path folder;
    private final ServerProcess process;

    private GpuServer(Path folder, ServerProcess process) {
        this.folder = folder;
        this.process = process;
    }

    /**
     * Starts it and waits until it is ready.
     *
     * @param ptx the file with the kernel
     * @param poolBytes the memory that it may take of the GPU, and as much of the host's
     * @throws IllegalStateException when it does not start; its log tells why
     */
    static GpuServer start(Path ptx, long poolBytes) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("gatun-gpu");
        Path version =
                Files.createDirectories(folder.resolve("models").resolve(MODEL).resolve("1"));
        Files.copy(ptx, version.resolve("model.ptx"));
        Files.writeString(version.resolveSibling("config.pbtxt"), CONFIGURATION);
        return new GpuServer(
                folder,
                ServerProcess.serve(
                        folder,
                        List.of("-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow"),
                        List.of(
                                "--model-repository=" + folder.resolve("models"),
                                "--http-address=127.0.0.1",
                                "--http-port=0",
                                "--grpc-address=127.0.0.1",
                                "--grpc-port=0",
                                "--metrics-port=0",
                                "--allow-client-shm=true",
                                "--buffer-pool-byte-size=" + poolBytes,
                                "--cuda-memory-pool-byte-size=0:" + poolBytes)));
    }

    /** The process, to be measured under load. Its heap is not read. */
    LoadedServer underLoad() {
        return new LoadedServer(process.pid(), () -> 0);
    }

    int grpcPort() {
        return process.grpcPort();
    }

    @Override
    public void close() throws IOException {
        process.close();
        ServerProcess.delete(folder);
    }
}
