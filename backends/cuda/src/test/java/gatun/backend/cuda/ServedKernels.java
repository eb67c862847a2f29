// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelStatus;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A runtime of its own in this JVM, with a repository in a folder of the test. Closing it requires that nothing is
 * left.
 */
final class ServedKernels implements AutoCloseable {
    private static final Path EXAMPLES = Path.of("..", "..", "examples", "models-gpu");
    private static final Path KERNELS = Path.of("..", "..", "examples", "kernels");

    final BufferPool pool = new BufferPool(64 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);
    private final Path repository;
    private boolean trustsClients;
    private Optional<GatunServer> server = Optional.empty();

    ServedKernels(Path repository) {
        this.repository = repository;
    }

    /** Adds one of the example models, with instances on GPU 0 only. */
    ServedKernels example(String name) throws IOException {
        return example(name, "gpus: [ 0 ]");
    }

    /** Adds one of the example models, with {@code instances} for its instance group. */
    ServedKernels example(String name, String instances) throws IOException {
        Path source = EXAMPLES.resolve(name);
        return model(
                name,
                Files.readString(source.resolve("config.pbtxt")).replace("count: 1", instances),
                exampleFile(name));
    }

    /** The kernels of an example model. */
    static byte[] exampleFile(String name) throws IOException {
        return Files.readAllBytes(EXAMPLES.resolve(name).resolve("1").resolve("model.ptx"));
    }

    /** Adds a model of the kernels that only tests use. */
    ServedKernels model(String name, String config) throws IOException {
        return model(name, "backend: \"cuda\"\n" + config, Files.readAllBytes(KERNELS.resolve("probe.ptx")));
    }

    ServedKernels model(String name, String config, byte[] file) throws IOException {
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
        Files.write(version.resolve("model.ptx"), file);
        return this;
    }

    /** Has kernels run on clients' own memory. */
    ServedKernels trustClients(boolean trusts) {
        trustsClients = trusts;
        return this;
    }

    /** The runtime, which has loaded what was added before the first call. */
    GatunServer server() {
        if (server.isEmpty()) {
            server = Optional.of(GatunServer.open(ServerOptions.of(pool, regions)
                    .repository(repository)
                    .models(ModelSettings.STANDARD.trustingClients(trustsClients))));
        }
        return server.orElseThrow();
    }

    /** Why the only model is not served. */
    String reason() {
        return server().index().stream().map(ModelStatus::reason).reduce("", String::concat);
    }

    InferenceRequest request(String model) {
        return new InferenceRequest(server().model(model, ""));
    }

    /** Adds an input in system memory. */
    void input(InferenceRequest request, String name, Datatype datatype, Shape shape, MemorySegment bytes) {
        Buffer buffer = pool.take(Math.max(1, bytes.byteSize()));
        request.hold(buffer);
        MemorySegment memory = buffer.segment().asSlice(0, bytes.byteSize()).copyFrom(bytes);
        request.addInput(new Tensor(new TensorSpec(name, datatype, shape), memory));
    }

    int[] ints(InferenceResponse response, int output) {
        return response.outputs().get(output).tensor().bytes().toArray(ValueLayout.JAVA_INT);
    }

    float[] floats(InferenceResponse response, int output) {
        return response.outputs().get(output).tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    static CudaDevice gpu(int ordinal) {
        return CudaDevices.find().device(ordinal).orElseThrow();
    }

    /** A window of a client's region on a GPU, as far as the runtime can tell. */
    record Window(DeviceMemory memory) implements RegionLease {
        @Override
        public MemorySegment segment() {
            throw new UncheckedIOException(new IOException("the window was staged in system memory"));
        }

        @Override
        public Optional<DeviceMemory> device() {
            return Optional.of(memory);
        }

        @Override
        public long byteSize() {
            return memory.byteSize();
        }

        @Override
        public void settle() {
            // Nothing is staged.
        }

        @Override
        public void close() {
            // The test owns the memory.
        }
    }

    @Override
    public void close() {
        server.ifPresent(GatunServer::close);
        regions.close();
        assertThat(pool.usedBytes()).isZero();
        pool.close();
        List<Long> lent = CudaDevices.find().all().stream()
                .map(device -> device.pool().lentBytes())
                .toList();
        assertThat(lent).as("memory of GPUs that was not given back").containsOnly(0L);
    }
}
