// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.spi.Datatypes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** The backend as the runtime finds and drives it. */
@Timeout(60)
class IdentityBackendTest {
    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(64 << 20);

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    private void open(String config) throws IOException {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), "backend: \"identity\"\n" + config);
        server = runtime.serve(repository);
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"INVALID"})
    void shouldRepeatEveryDatatype(Datatype datatype) throws IOException {
        open("""
                input [ { name: "IN" data_type: %1$s dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: %1$s dims: [ -1 ] } ]
                """.formatted(Datatypes.configured(datatype)));
        byte[] bytes = datatype == Datatype.BYTES
                ? new byte[] {1, 0, 0, 0, 'a', 0, 0, 0, 0}
                : new byte[] {1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1};
        long count = datatype == Datatype.BYTES ? 2 : bytes.length / datatype.byteSize();
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        input(request, "IN", datatype, bytes, count);
        try (InferenceResponse response = server.infer(request)) {
            Tensor answer = response.outputs().getFirst().tensor();
            assertThat(answer.spec()).isEqualTo(new TensorSpec("OUT", datatype, Shape.of(count)));
            assertThat(answer.bytes().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
        }
    }

    @Test
    void shouldRepeatInputsByTheirOrder() throws IOException {
        open("""
                input [ { name: "A" data_type: TYPE_UINT8 dims: [ 1 ] }, { name: "B" data_type: TYPE_UINT8 dims: [ 2 ] } ]
                output [ { name: "X" data_type: TYPE_UINT8 dims: [ 1 ] }, { name: "Y" data_type: TYPE_UINT8 dims: [ 2 ] } ]
                """);
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        input(request, "B", Datatype.UINT8, new byte[] {2, 3}, 2);
        input(request, "A", Datatype.UINT8, new byte[] {1}, 1);
        request.addOutput(RequestedOutput.of("Y"));
        request.addOutput(RequestedOutput.of("X"));
        try (InferenceResponse response = server.infer(request)) {
            assertThat(response.outputs())
                    .extracting(output -> output.tensor().spec().name())
                    .containsExactly("Y", "X");
            assertThat(response.outputs().get(0).tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .containsExactly(2, 3);
            assertThat(response.outputs().get(1).tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .containsExactly(1);
        }
    }

    @Test
    void shouldRepeatRaggedRequestsThatRunTogether() throws Exception {
        open("""
                max_batch_size: 8
                dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 50000000 }
                input [ { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] allow_ragged_batch: true } ]
                output [ { name: "OUT" data_type: TYPE_UINT8 dims: [ -1 ] } ]
                """);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<byte[]>> answers = new ArrayList<>();
            for (byte[] bytes : List.of(new byte[] {1, 2, 3}, new byte[] {4})) {
                answers.add(clients.submit(() -> {
                    InferenceRequest request = new InferenceRequest(server.model("m", ""));
                    input(request, "IN", Datatype.UINT8, bytes, 1, bytes.length);
                    try (InferenceResponse response = server.infer(request)) {
                        return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_BYTE);
                    }
                }));
            }
            assertThat(answers.get(0).get()).containsExactly(1, 2, 3);
            assertThat(answers.get(1).get()).containsExactly(4);
        }
        assertThat(server.statistics().getFirst().executionCount()).isEqualTo(1);
    }

    @Test
    void shouldAnswerOptionalInputsThatAreLeftOutWithZeros() throws IOException {
        open("""
                max_batch_size: 4
                input [ { name: "A" data_type: TYPE_UINT8 dims: [ 1 ] },
                    { name: "B" data_type: TYPE_INT16 dims: [ -1, 2 ] optional: true },
                    { name: "C" data_type: TYPE_STRING dims: [ 1 ] optional: true } ]
                output [ { name: "X" data_type: TYPE_UINT8 dims: [ 1 ] },
                    { name: "Y" data_type: TYPE_INT16 dims: [ -1, 2 ] },
                    { name: "Z" data_type: TYPE_STRING dims: [ 1 ] } ]
                """);
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        input(request, "A", Datatype.UINT8, new byte[] {2, 3}, 2, 1);
        try (InferenceResponse response = server.infer(request)) {
            assertThat(response.outputs())
                    .extracting(output -> output.tensor().spec().shape())
                    .containsExactly(Shape.of(2, 1), Shape.of(2, 1, 2), Shape.of(2, 1));
            assertThat(response.outputs().get(1).tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(new byte[8]);
            assertThat(response.outputs().get(2).tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .as("two empty strings")
                    .isEqualTo(new byte[8]);
        }
        InferenceRequest one = new InferenceRequest(server.model("m", ""));
        input(one, "A", Datatype.UINT8, new byte[] {2, 3}, 2, 1);
        one.addOutput(RequestedOutput.of("X"));
        try (InferenceResponse response = server.infer(one)) {
            assertThat(response.outputs()).hasSize(1);
        }
    }

    @Test
    void shouldTakeTheTimesThatAModelNames() throws IOException {
        String model = """
                input [ { name: "IN" data_type: TYPE_UINT8 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_UINT8 dims: [ 1 ] } ]
                parameters [ { key: "execute_delay_ms" value { string_value: "20" } },
                    { key: "creation_delay_sec" value { string_value: "%s" } } ]
                """;
        open(model.formatted("1"));
        assertThat(server.index().getFirst().loadTime()).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        input(request, "IN", Datatype.UINT8, new byte[] {1}, 1);
        long begin = System.nanoTime();
        server.infer(request).close();
        assertThat(System.nanoTime() - begin)
                .isGreaterThanOrEqualTo(Duration.ofMillis(20).toNanos());
        server.close();
        open(model.formatted("soon"));
        assertThat(server.index().getFirst().reason())
                .isEqualTo("parameter 'creation_delay_sec' is 'soon', expected seconds as a number");
    }

    @Test
    void shouldCopyFromTheClientsMemoryToTheClientsMemory() throws IOException {
        open("""
                input [ { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_UINT8 dims: [ -1 ] } ]
                """);
        try (Arena arena = Arena.ofShared()) {
            Window source = new Window(arena.allocate(1000).fill((byte) 7));
            Window target = new Window(arena.allocate(1000));
            InferenceRequest request = new InferenceRequest(server.model("m", ""));
            request.hold(source);
            request.hold(target);
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.UINT8, Shape.of(1000)), source.segment()));
            request.addOutput(new RequestedOutput("OUT", Optional.of(target), 0));
            server.infer(request).close();
            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldSayWhatAConfigurationLacks() throws IOException {
        open("input [ { name: \"IN\" data_type: TYPE_UINT8 dims: [ 1 ] } ]");
        assertThat(server.index())
                .extracting(ModelStatus::reason)
                .isEqualTo(List.of("model 'm' has 1 inputs and 0 outputs; the identity backend needs as many outputs as"
                        + " inputs"));
    }

    @Test
    void shouldSayThatDatatypesDiffer() throws IOException {
        open("""
                input [ { name: "IN" data_type: TYPE_UINT8 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT8 dims: [ 1 ] } ]
                """);
        assertThat(server.index())
                .extracting(ModelStatus::reason)
                .isEqualTo(
                        List.of("model 'm': output 'OUT' has data_type TYPE_INT8 but input 'IN', which it repeats, has"
                                + " TYPE_UINT8"));
    }

    private void input(InferenceRequest request, String name, Datatype datatype, byte[] bytes, long... dims) {
        Buffer buffer = pool.take(bytes.length);
        request.hold(buffer);
        MemorySegment.copy(bytes, 0, buffer.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
        request.addInput(new Tensor(new TensorSpec(name, datatype, Shape.of(dims)), buffer.segment()));
    }

    /** A window of memory that needs no care. */
    private record Window(MemorySegment segment) implements RegionLease {
        @Override
        public void settle() {}

        @Override
        public void close() {}
    }

    @Test
    void shouldServeAModelWithoutTensors() throws IOException {
        open("");
        try (InferenceResponse response = server.infer(new InferenceRequest(server.model("m", "")))) {
            assertThat(response.outputs()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "1001", "many"})
    void shouldRefuseNumbersOfSpansThatAreNone(String count) throws IOException {
        open("""
                parameters { key: "enable_custom_tracing" value { string_value: "true" } }
                parameters { key: "nested_span_count" value { string_value: "%s" } }
                """.formatted(count));
        assertThat(server.index())
                .extracting(ModelStatus::reason)
                .singleElement()
                .asString()
                .contains("parameter 'nested_span_count' is '" + count + "', expected a number from 0 to 1000");
    }
}
