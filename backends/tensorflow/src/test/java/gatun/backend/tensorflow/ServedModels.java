// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.LibraryCache;
import gatun.bindings.TensorFlow;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The runtime with this engine on folders of models, for tests that are skipped where TensorFlow is not installed. Used
 * by one test.
 */
final class ServedModels implements AutoCloseable {
    /** The models that users get. */
    static final Path EXAMPLES = Path.of("..", "..", "examples", "tensorflow", "models");

    private final BufferPool pool = new BufferPool(64 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);
    private final GatunServer server;

    private ServedModels(List<Path> repositories, UnaryOperator<ServerOptions> settings) {
        ServerOptions options = ServerOptions.of(pool, regions);
        repositories.forEach(options::repository);
        server = GatunServer.open(settings.apply(options));
    }

    static ServedModels open(Path... repositories) {
        return open(options -> options, repositories);
    }

    static ServedModels open(UnaryOperator<ServerOptions> settings, Path... repositories) {
        assumeThat(TensorFlow.installed(LibraryCache.ofUser()))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isPresent();
        return new ServedModels(List.of(repositories), settings);
    }

    GatunServer server() {
        return server;
    }

    /** A request without inputs yet. */
    InferenceRequest request(String model, String entryPoint) {
        InferenceRequest request = new InferenceRequest(server.model(model, ""));
        request.entryPoint(entryPoint);
        return request;
    }

    /** Adds an input; returns where its bytes go. */
    MemorySegment input(InferenceRequest request, TensorSpec spec, long byteSize) {
        Buffer buffer = pool.take(Math.max(1, byteSize));
        request.hold(buffer);
        MemorySegment bytes = buffer.segment().asSlice(0, byteSize);
        request.addInput(new Tensor(spec, bytes));
        return bytes;
    }

    /** Adds an input. */
    InferenceRequest floats(InferenceRequest request, String name, Shape shape, float... values) {
        MemorySegment bytes = input(request, new TensorSpec(name, Datatype.FP32, shape), values.length * 4L);
        MemorySegment.copy(values, 0, bytes, ValueLayout.JAVA_FLOAT, 0, values.length);
        return request;
    }

    /** Adds an input. */
    InferenceRequest strings(InferenceRequest request, String name, byte[]... values) {
        List<byte[]> elements = List.of(values);
        MemorySegment bytes = input(
                request,
                new TensorSpec(name, Datatype.BYTES, Shape.of(values.length)),
                BytesCodec.encodedByteSize(elements));
        BytesCodec.encode(elements, bytes);
        return request;
    }

    /** The first output's numbers. */
    float[] answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    /** The first output's bytes. */
    byte[] bytes(InferenceRequest request) {
        try (request;
                InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Checks that nothing is left open. */
    @Override
    public void close() {
        server.close();
        regions.close();
        assertThat(LiveTensors.count()).as("live tensors").isZero();
        assertThat(pool.usedBytes()).as("bytes of the pool in use").isZero();
        pool.close();
    }
}
