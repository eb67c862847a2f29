// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.ChildJvm;
import gatun.memory.cuda.CudaDevices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;

/** A client in a process of its own with memory on a GPU. Closing it kills the process, which frees the memory. */
public final class CudaClient implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Path DRIVER = Path.of("/dev/nvidiactl");
    private static final HexFormat HEX = HexFormat.of();

    private final ChildJvm process;
    private final byte[] handle;

    private CudaClient(ChildJvm process, byte[] handle) {
        this.process = process;
        this.handle = handle;
    }

    /**
     * The environment in which a process finds CUDA's driver: a real one, or the stub that stands in for it. Skips the
     * test on a machine that has neither, for want of a C compiler.
     */
    public static Map<String, String> environment() {
        String path = System.getProperty("cuda.library.path");
        boolean real = Files.exists(DRIVER);
        assumeThat(real || Files.exists(Path.of(path, "libcuda.so.1")))
                .as("a driver in " + path)
                .isTrue();
        return Map.of("LD_LIBRARY_PATH", path);
    }

    /** How many GPUs a server finds: those of the machine, or the two of the stub. */
    static int count() {
        return Files.exists(DRIVER) ? CudaDevices.find().count() : 2;
    }

    /**
     * Starts a client with {@code byteSize} bytes on a GPU, whose content is undefined. Skips the test on a machine
     * with a real driver that has fewer GPUs.
     */
    public static CudaClient launch(int device, long byteSize) throws InterruptedException {
        if (Files.exists(DRIVER)) {
            assumeThat(CudaDevices.find().count()).as("GPUs").isGreaterThan(device);
        }
        ChildJvm process = ChildJvm.launch(
                environment(), CudaMemoryOwner.class, Integer.toString(device), Long.toString(byteSize));
        try {
            return new CudaClient(process, HEX.parseHex(process.awaitLine("exported", LIMIT)));
        } catch (Throwable t) {
            process.close();
            throw t;
        }
    }

    /**
     * The handle of memory whose owner was killed, and that no server has seen: memory that a server had open may live
     * until the server comes to close it.
     */
    public static byte[] handleOfTheDead(long byteSize) throws InterruptedException {
        try (CudaClient client = launch(0, byteSize)) {
            return client.handle();
        }
    }

    /** CUDA's handle of the memory, 64 bytes. */
    public byte[] handle() {
        return handle.clone();
    }

    public void write(long offset, byte[] bytes) throws InterruptedException {
        process.send("write " + offset + " " + HEX.formatHex(bytes));
        process.awaitLine("done", LIMIT);
    }

    public byte[] read(long offset, int byteSize) throws InterruptedException {
        process.send("read " + offset + " " + byteSize);
        byte[] bytes = HEX.parseHex(process.awaitLine("content", LIMIT));
        process.awaitLine("done", LIMIT);
        return bytes;
    }

    /** Has it free its memory. */
    public void free() throws InterruptedException {
        process.send("free");
        process.awaitLine("done", LIMIT);
    }

    /** Kills it as {@code kill -9} does. */
    public void kill() throws InterruptedException {
        process.kill();
    }

    @Override
    public void close() {
        process.close();
    }
}
