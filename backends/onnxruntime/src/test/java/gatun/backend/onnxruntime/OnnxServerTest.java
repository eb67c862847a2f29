// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.testing.OnnxFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The runtime with this engine on the models of {@code examples/models}. Each test ends with nothing left open. */
@Timeout(120)
class OnnxServerTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "models");

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(
            64 << 20,
            () -> assertThat(LiveHandles.values()).as("live values").isZero(),
            () -> assertThat(LiveHandles.sessions()).as("live sessions").isZero());

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    private void open(Path repository, String... models) {
        server = runtime.serve(options -> options.repository(repository).onlyModels(List.of(models)));
    }

    @Test
    void shouldServeModelsWithAndWithoutAConfiguration() {
        open(MODELS, "digits", "simple", "simple_string", "softmax");
        assertThat(server.index())
                .filteredOn(status -> status.state() != ModelState.UNKNOWN) // not asked to load
                .extracting(ModelStatus::name, ModelStatus::engine, ModelStatus::state)
                .allSatisfy(line -> {
                    assertThat(line.toList().get(1)).isEqualTo("onnxruntime");
                    assertThat(line.toList().get(2)).isEqualTo(ModelState.READY);
                })
                .hasSize(4);
        assertThat(server.ready()).isTrue();
        assertThat(server.model("softmax", "").config().getMaxBatchSize()).isPositive();
        assertThat(server.model("simple", "").platform()).isEqualTo("onnxruntime_onnx");
        assertThat(server.model("simple", "").config().getInstanceGroup(0).getCount())
                .isEqualTo(2);
    }

    @Test
    void shouldClassifyADigitWithItsLabel() {
        open(MODELS, "digits");
        InferenceRequest request = new InferenceRequest(server.model("digits", ""));
        MemorySegment picture = input(request, "image", Datatype.FP32, 28 * 28 * 4, 1, 1, 28, 28);
        // A vertical stroke in the middle.
        for (int row = 4; row < 24; row++) {
            for (int column = 13; column < 16; column++) {
                picture.setAtIndex(ValueLayout.JAVA_FLOAT, row * 28 + column, 1);
            }
        }
        request.addOutput(new RequestedOutput("probabilities", Optional.empty(), 1));
        try (InferenceResponse response = server.infer(request)) {
            Tensor answer = response.outputs().getFirst().tensor();
            assertThat(answer.spec()).isEqualTo(new TensorSpec("probabilities", Datatype.BYTES, Shape.of(1, 1)));
            String text = new String(
                    answer.bytes().asSlice(4, answer.bytes().byteSize() - 4).toArray(ValueLayout.JAVA_BYTE),
                    StandardCharsets.UTF_8);
            assertThat(text).matches("[01]\\.[0-9]{6}:1:one");
        }
    }

    @Test
    void shouldAnswerManyClientsAtOnceEachWithItsOwnNumbers() throws Exception {
        open(MODELS, "simple", "simple_string");
        List<Future<Integer>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < 16; client++) {
                int base = client * 1000;
                boolean strings = client % 4 == 3;
                clients.add(threads.submit(() -> {
                    int right = 0;
                    for (int i = 0; i < 100; i++) {
                        int offset = base + i;
                        right += strings ? addStrings(offset) : addIntegers(offset, 1 + i % 8);
                    }
                    return right;
                }));
            }
        }
        for (Future<Integer> client : clients) {
            assertThat(client.get(1, TimeUnit.SECONDS)).isEqualTo(100);
        }
        assertThat(server.statistics())
                .extracting(ModelStatistics::successCount)
                .containsExactly(1200L, 400L);
        assertThat(server.statistics()).allSatisfy(statistics -> {
            assertThat(statistics.totals().nanos().computeInfer()).isPositive();
            assertThat(statistics.totals().nanos().computeInput()).isPositive();
        });
    }

    /** 1 when {@code simple} adds and subtracts rightly for a batch. */
    private int addIntegers(int offset, int batch) {
        InferenceRequest request = new InferenceRequest(server.model("simple", ""));
        fill(input(request, "INPUT0", Datatype.INT32, batch * 64L, batch, 16), i -> offset + i);
        fill(input(request, "INPUT1", Datatype.INT32, batch * 64L, batch, 16), i -> 2 * i);
        try (InferenceResponse response = server.infer(request)) {
            MemorySegment sum = response.outputs().get(0).tensor().bytes();
            MemorySegment difference = response.outputs().get(1).tensor().bytes();
            for (int i = 0; i < batch * 16; i++) {
                if (sum.getAtIndex(ValueLayout.JAVA_INT, i) != offset + 3 * i
                        || difference.getAtIndex(ValueLayout.JAVA_INT, i) != offset - i) {
                    return 0;
                }
            }
            return 1;
        }
    }

    /** 1 when {@code simple_string} adds rightly. */
    private int addStrings(int offset) {
        InferenceRequest request = new InferenceRequest(server.model("simple_string", ""));
        strings(request, "INPUT0", Integer.toString(offset));
        strings(request, "INPUT1", "1");
        try (InferenceResponse response = server.infer(request)) {
            MemorySegment sum = response.outputs().getFirst().tensor().bytes();
            byte[] expected = Integer.toString(offset + 1).getBytes(StandardCharsets.UTF_8);
            byte[] first = sum.asSlice(4, sum.get(ValueLayout.JAVA_INT, 0)).toArray(ValueLayout.JAVA_BYTE);
            return Arrays.equals(first, expected) && sum.byteSize() == 16L * (4 + expected.length) ? 1 : 0;
        }
    }

    @Test
    void shouldTellHowManyValuesItHolds() {
        open(MODELS, "simple");
        assertThat(server.engines())
                .containsExactly(new EngineStatistics("onnxruntime", LiveHandles.values()))
                .allSatisfy(engine -> assertThat(engine.liveValues()).isPositive());
    }

    @Test
    void shouldFailOneRequestAndAnswerTheNext() {
        open(MODELS, "simple_string");
        InferenceRequest bad = new InferenceRequest(server.model("simple_string", ""));
        strings(bad, "INPUT0", "no number");
        strings(bad, "INPUT1", "1");
        assertThatThrownBy(() -> server.infer(bad))
                .isInstanceOf(GatunException.class)
                .hasMessageStartingWith("onnx runtime error: ");
        assertThat(pool.usedBytes()).isZero();
        assertThat(addStrings(41)).isEqualTo(1);
        ModelStatistics statistics = server.statistics().getFirst();
        assertThat(statistics.totals().failures().backend()).isEqualTo(1);
        assertThat(statistics.successCount()).isEqualTo(1);
    }

    @Test
    void shouldGiveThePersonWhoReadsItTheReason(@TempDir Path repository) throws IOException {
        Files.writeString(
                Files.createDirectories(repository.resolve("broken").resolve("1"))
                        .resolve("model.onnx"),
                "no model");
        Files.createDirectories(repository.resolve("empty").resolve("1"));
        Files.writeString(repository.resolve("empty").resolve("config.pbtxt"), "platform: \"onnxruntime_onnx\"");
        Path contradicting = repository.resolve("contradicting").resolve("1");
        Files.createDirectories(contradicting);
        Files.copy(MODELS.resolve("simple").resolve("1").resolve("model.onnx"), contradicting.resolve("model.onnx"));
        Files.writeString(
                repository.resolve("contradicting").resolve("config.pbtxt"),
                Files.readString(MODELS.resolve("simple").resolve("config.pbtxt"))
                        .replace("name: \"simple\"", "")
                        .replace("INPUT1", "INPUT7"));
        open(repository, "broken", "contradicting", "empty");
        assertThat(reason("broken")).startsWith("model.onnx is not a valid ONNX file: ");
        assertThat(reason("empty")).isEqualTo("version 1 of model 'empty' has no file model.onnx");
        assertThat(reason("contradicting"))
                .isEqualTo("unexpected inference input 'INPUT7', allowed inputs are: INPUT0, INPUT1");
    }

    private static void scalarModel(Path repository, String name, Datatype datatype, String tensors)
            throws IOException {
        OnnxFile.write(
                repository.resolve(name).resolve("1"),
                "Identity",
                List.of(OnnxValues.of("IN", datatype)),
                List.of(OnnxValues.of("OUT", datatype)),
                "",
                0);
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), "backend: \"onnxruntime\"" + tensors);
    }

    private static String tensors(String type, String dims) {
        return " input { name: \"IN\" data_type: " + type + " dims: " + dims + " } output { name: \"OUT\" data_type: "
                + type + " dims: " + dims + " }";
    }

    @Test
    void shouldServeScalarsAsTheConfigurationShapesThem(@TempDir Path repository) throws IOException {
        scalarModel(repository, "one", Datatype.INT32, tensors("TYPE_INT32", "[ 1 ]"));
        scalarModel(repository, "two", Datatype.INT32, tensors("TYPE_INT32", "[ 1, 1 ]"));
        scalarModel(repository, "text", Datatype.BYTES, tensors("TYPE_STRING", "[ 1 ]"));
        scalarModel(repository, "completed", Datatype.INT32, "");
        scalarModel(repository, "wrong", Datatype.INT32, tensors("TYPE_INT32", "[ 1, 2 ]"));
        open(repository, "one", "two", "text", "completed", "wrong");

        assertThat(reason("wrong"))
                .isEqualTo("unable to load model 'wrong', scalar tensor 'IN', should only provide 1 in the model"
                        + " configuration when the model doesn't support batching. Model configuration provided:"
                        + " [1,2].");
        assertThat(server.model("completed", "").outputs())
                .containsExactly(new TensorSpec("OUT", Datatype.INT32, Shape.of(1)));
        assertThat(echoedScalar("one", 1)).isEqualTo(7);
        assertThat(echoedScalar("completed", 1)).isEqualTo(7);
        assertThat(echoedScalar("two", 1, 1)).isEqualTo(7);
        InferenceRequest request = new InferenceRequest(server.model("text", ""));
        input(request, "IN", Datatype.BYTES, 5, 1).set(ValueLayout.JAVA_INT_UNALIGNED, 0, 1);
        try (InferenceResponse response = server.infer(request)) {
            assertThat(response.outputs().getFirst().tensor().spec())
                    .isEqualTo(new TensorSpec("OUT", Datatype.BYTES, Shape.of(1)));
        }
    }

    private int echoedScalar(String model, long... dims) {
        InferenceRequest request = new InferenceRequest(server.model(model, ""));
        fill(input(request, "IN", Datatype.INT32, 4, dims), i -> 7);
        try (InferenceResponse response = server.infer(request)) {
            Tensor output = response.outputs().getFirst().tensor();
            assertThat(output.spec()).isEqualTo(new TensorSpec("OUT", Datatype.INT32, Shape.of(dims)));
            return output.bytes().get(ValueLayout.JAVA_INT, 0);
        }
    }

    private String reason(String model) {
        return server.index().stream()
                .filter(status -> status.name().equals(model))
                .map(ModelStatus::reason)
                .findFirst()
                .orElseThrow();
    }

    private MemorySegment input(InferenceRequest request, String name, Datatype datatype, long byteSize, long... dims) {
        Buffer buffer = pool.take(byteSize);
        request.hold(buffer);
        request.addInput(new Tensor(new TensorSpec(name, datatype, Shape.of(dims)), buffer.segment()));
        return buffer.segment().fill((byte) 0);
    }

    private static void fill(MemorySegment integers, IntUnaryOperator value) {
        for (int i = 0; i < integers.byteSize() / Integer.BYTES; i++) {
            integers.setAtIndex(ValueLayout.JAVA_INT, i, value.applyAsInt(i));
        }
    }

    /** Adds a row of 16 times the same text. */
    private void strings(InferenceRequest request, String name, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment target = input(request, name, Datatype.BYTES, 16L * (4 + bytes.length), 1, 16);
        long at = 0;
        for (int i = 0; i < 16; i++) {
            target.set(ValueLayout.JAVA_INT_UNALIGNED, at, bytes.length);
            MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, at + 4, bytes.length);
            at += 4 + bytes.length;
        }
    }
}
