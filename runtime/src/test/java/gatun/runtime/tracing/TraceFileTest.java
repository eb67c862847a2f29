// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import static gatun.runtime.tracing.TracingTest.begin;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TraceFileTest {
    @TempDir
    Path folder;

    private Tracing tracing(Set<TraceLevel> levels, long logFrequency) {
        return new Tracing(
                new TraceSettings(levels, 1, TraceSettings.UNLIMITED, logFrequency),
                TraceFile.to(folder.resolve("trace.json")));
    }

    private static void trace(Tracing tracing, String id, long nanos) {
        RequestTrace trace = begin(tracing, "m", 3).orElseThrow();
        trace.requestId(id);
        trace.reached(TraceStage.REQUEST_START, nanos);
        trace.end();
    }

    @Test
    void shouldWriteAnArrayOfWhatTracesTell() throws IOException {
        try (Tracing tracing = tracing(Set.of(TraceLevel.TIMESTAMPS), 0)) {
            trace(tracing, "a \"quoted\" id", 5);
            trace(tracing, "", 6);
        }
        assertThat(folder.resolve("trace.json")).hasContent("""
                [
                {"id":1,"model_name":"m","model_version":3,"request_id":"a \\"quoted\\" id"},
                {"id":1,"timestamps":[{"name":"REQUEST_START","ns":5}]},
                {"id":2,"model_name":"m","model_version":3},
                {"id":2,"timestamps":[{"name":"REQUEST_START","ns":6}]}
                ]
                """);
    }

    @Test
    void shouldWriteAFileAfterEachSoManyTracesAndTheRestAtTheEnd() throws IOException {
        try (Tracing tracing = tracing(Set.of(TraceLevel.TIMESTAMPS), 2)) {
            for (int i = 0; i < 5; i++) {
                trace(tracing, "", i);
            }
        }
        assertThat(array("trace.json.0")).hasSize(4);
        assertThat(array("trace.json.1")).hasSize(4);
        assertThat(array("trace.json.2")).hasSize(2);
        assertThat(folder.resolve("trace.json")).doesNotExist();
    }

    private Tracing counted(long count, long logFrequency) {
        return new Tracing(
                new TraceSettings(Set.of(TraceLevel.TIMESTAMPS), 1, count, logFrequency),
                TraceFile.to(folder.resolve("trace.json")));
    }

    @Test
    void shouldWriteANumberedFileWhenTheLastOfALimitedNumberHasCome() throws Exception {
        try (Tracing tracing = counted(3, 0)) {
            for (int i = 0; i < 3; i++) {
                trace(tracing, "", i);
            }
            Await.until("the file", () -> Files.exists(folder.resolve("trace.json.0")));
            assertThat(begin(tracing, "m", 3)).isEmpty();
        }
        assertThat(array("trace.json.0")).hasSize(6);
        assertThat(folder.resolve("trace.json")).doesNotExist();
        assertThat(folder.resolve("trace.json.1")).doesNotExist();
    }

    @Test
    void shouldWriteTracesToTheFileItselfWhenLessThanTheirLimitedNumberCame() throws IOException {
        try (Tracing tracing = counted(3, 0)) {
            trace(tracing, "", 1);
            tracing.change("", Map.of("trace_count", List.of("2")));
            trace(tracing, "", 2);
            trace(tracing, "", 3);
            tracing.change("", Map.of("trace_count", List.of("2")));
            trace(tracing, "", 4);
        }
        assertThat(array("trace.json")).as("the first and the last").hasSize(4);
        assertThat(array("trace.json.0")).hasSize(4);
        assertThat(folder.resolve("trace.json.1")).doesNotExist();
    }

    @Test
    void shouldWriteTheLastOfALimitedNumberBeforeTheFrequencyIsReached() throws Exception {
        try (Tracing tracing = counted(3, 2)) {
            for (int i = 0; i < 3; i++) {
                trace(tracing, "", i);
            }
            Await.until("the file", () -> Files.exists(folder.resolve("trace.json.1")));
        }
        assertThat(array("trace.json.0")).hasSize(4);
        assertThat(array("trace.json.1")).hasSize(2);
    }

    @Test
    void shouldNotCollectTracesWithoutEndWhateverCountAClientAsksFor() throws IOException {
        try (Tracing tracing = counted(Long.MAX_VALUE, 0)) {
            for (int i = 0; i < 1_001; i++) {
                trace(tracing, "", i);
            }
        }
        assertThat(array("trace.json.0")).hasSize(2_000);
        assertThat(array("trace.json")).hasSize(2);
    }

    @Test
    void shouldWriteTheRequestsOfAnEnsembleToTheFileOfItsOwn() throws IOException {
        try (Tracing tracing = tracing(Set.of(TraceLevel.TIMESTAMPS), 2)) {
            for (int i = 0; i < 2; i++) {
                RequestTrace trace = begin(tracing, "whole", 1).orElseThrow();
                trace.child("part", 1).end();
                trace.child("part", 1).end();
                trace.end();
            }
        }
        assertThat(array("trace.json.0"))
                .extracting(object -> object.getAsJsonObject().get("model_name").getAsString())
                .containsExactly("whole", "part", "part", "whole", "part", "part");
        assertThat(folder.resolve("trace.json.1")).doesNotExist();
    }

    @Test
    void shouldNotCollectTracesWithoutEndWhateverFrequencyAClientAsksFor() throws IOException {
        try (Tracing tracing = tracing(Set.of(TraceLevel.TIMESTAMPS), Long.MAX_VALUE)) {
            for (int i = 0; i < 1_001; i++) {
                trace(tracing, "", i);
            }
        }
        assertThat(array("trace.json.0")).hasSize(2_000);
        assertThat(array("trace.json.1")).hasSize(2);
    }

    @Test
    void shouldTellTensorsWhereThatIsWanted() throws IOException {
        try (Tracing tracing = tracing(Set.of(TraceLevel.TENSORS), 0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(8);
            bytes.set(ElementLayouts.FP32, 0, 1.5f);
            bytes.set(ElementLayouts.FP32, 4, -2f);
            RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
            trace.started("", List.of(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 2)), bytes)));
            trace.end();
        }
        assertThat(array("trace.json").get(1))
                .hasToString("{\"id\":1,\"activity\":\"TENSOR_QUEUE_INPUT\",\"tensor\":{\"name\":\"IN\","
                        + "\"data\":\"1.5,-2.0\",\"shape\":\"1,2\",\"dtype\":\"FP32\"}}");
        assertThat(array("trace.json")).hasSize(2);
    }

    private static Tensor tensor(Arena arena, Datatype datatype, long elements) {
        MemorySegment bytes = arena.allocate(elements * datatype.byteSize());
        return new Tensor(new TensorSpec("IN", datatype, Shape.of(elements)), bytes);
    }

    @Test
    void shouldWriteTheTextsOfBytesInQuotationMarksAndEndWhereTheyAreCutOff() throws IOException {
        byte[] texts = {2, 0, 0, 0, 'a', '"', 0, 0, 0, 0, 3, 0, 0, 0, 0x7f};
        try (Tracing tracing = tracing(Set.of(TraceLevel.TENSORS), 0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, texts);
            RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
            trace.started("", List.of(new Tensor(new TensorSpec("IN", Datatype.BYTES, Shape.of(3)), bytes)));
            trace.end();
        }
        assertThat(array("trace.json")
                        .get(1)
                        .getAsJsonObject()
                        .getAsJsonObject("tensor")
                        .get("data")
                        .getAsString())
                .isEqualTo("\"a\"\",\"\"");
    }

    @Test
    void shouldLeaveOutTensorsThatTakeTooMuchMemoryUntilTracesAreWritten() throws IOException {
        TraceMemory memory;
        try (Tracing tracing = tracing(Set.of(TraceLevel.TENSORS), 0);
                Arena arena = Arena.ofConfined()) {
            memory = tracing.memory();
            Tensor large = tensor(arena, Datatype.INT64, 3 << 20);
            RequestTrace first = begin(tracing, "m", 1).orElseThrow();
            first.started("", List.of(large));
            RequestTrace second = begin(tracing, "m", 1).orElseThrow();
            second.started("", List.of(large));
            assertThat(memory.held()).isEqualTo(24 << 20);
            second.end();
            first.end();
        }
        assertThat(memory.held()).isZero();
        List<String> lines = Files.readAllLines(folder.resolve("trace.json"));
        assertThat(lines)
                .filteredOn(line -> line.startsWith("{\"id\":2,\"activity\""))
                .singleElement()
                .asString()
                .contains("\"data\":\"\",\"shape\":\"3145728\"");
        assertThat(lines)
                .filteredOn(line -> line.startsWith("{\"id\":1,\"activity\""))
                .singleElement()
                .satisfies(line -> assertThat(line.length()).isGreaterThan(2 * (3 << 20)));
    }

    @Test
    void shouldHoldNothingForRequestsThatAreMadeTooLate() {
        Tracing tracing = tracing(Set.of(TraceLevel.TENSORS), 0);
        try (Arena arena = Arena.ofConfined()) {
            RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
            trace.end();
            tracing.close();
            RequestTrace late = trace.child("n", 1);
            late.answered(tensor(arena, Datatype.INT8, 100));
            assertThat(tracing.memory().held()).isEqualTo(100);
            late.end();
        }
        assertThat(tracing.memory().held()).isZero();
    }

    @Test
    void shouldHoldNothingForATensorThatComesAfterTheEnd() {
        Tracing tracing = tracing(Set.of(TraceLevel.TENSORS), 0);
        try (Arena arena = Arena.ofConfined()) {
            RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
            trace.end();
            tracing.close();
            trace.answered(tensor(arena, Datatype.INT8, 100));
        }
        assertThat(tracing.memory().held()).isZero();
    }

    @Test
    void shouldBeginTheFileAnewWhenItIsGone() throws IOException {
        Path file = folder.resolve("gone.json");
        try (Tracing tracing = tracing(Set.of(TraceLevel.TIMESTAMPS), 0)) {
            RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
            trace.reached(TraceStage.REQUEST_START);
            TraceJson.write(file, List.of(trace), false);
            TraceJson.write(file, List.of(trace), true);
            assertThat(array("gone.json")).hasSize(4);
            Files.delete(file);
            TraceJson.write(file, List.of(trace), true);
            assertThat(array("gone.json")).hasSize(2);
        }
    }

    @Test
    void shouldKeepTracingWhenTheFileCannotBeWritten() throws IOException {
        Path missing = folder.resolve("missing");
        try (Tracing tracing = new Tracing(
                new TraceSettings(Set.of(TraceLevel.TENSORS), 1, TraceSettings.UNLIMITED, 0),
                TraceFile.to(missing.resolve("trace.json")))) {
            trace(tracing, "a", 1);
            trace(tracing, "b", 2);
            assertThat(missing).doesNotExist();
        }
        assertThat(folder).isEmptyDirectory();
    }

    private JsonArray array(String file) throws IOException {
        return JsonParser.parseString(Files.readString(folder.resolve(file))).getAsJsonArray();
    }
}
