// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.RequestedOutput;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ClassificationTest {
    @TempDir
    Path repository;

    @SuppressWarnings("NullAway.Init") // set before each use
    private TestServer test;

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).isZero();
    }

    private void open(String type, String batching, Object... scores) throws IOException {
        test = new TestServer(repository).model("m", """
                backend: "scripted"
                %s
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: %s dims: [ -1 ] label_filename: "labels.txt" } ]
                """.formatted(batching, type));
        Files.writeString(repository.resolve("m").resolve("labels.txt"), "cat\n\ndog\r\n");
        boolean batched = !batching.isEmpty();
        Shape shape = batched ? Shape.of(2, scores.length / 2) : Shape.of(scores.length);
        Datatype datatype = Datatype.of(type.substring("TYPE_".length()));
        test.open(execution -> {
            MemorySegment out = execution.output(0, datatype, shape, (long) scores.length * datatype.byteSize());
            for (int i = 0; i < scores.length; i++) {
                switch (scores[i]) {
                    case Float f -> out.setAtIndex(ValueLayout.JAVA_FLOAT, i, f);
                    case Double d -> out.setAtIndex(ValueLayout.JAVA_DOUBLE, i, d);
                    case Integer n -> out.setAtIndex(ValueLayout.JAVA_INT, i, n);
                    case Long n -> out.setAtIndex(ValueLayout.JAVA_LONG, i, n);
                    default -> throw new AssertionError(scores[i]);
                }
            }
        });
    }

    private List<String> classify(int count, Shape expected, long... dims) {
        InferenceRequest request = test.input(test.request("m"), "IN", dims);
        request.addOutput(new RequestedOutput("OUT", Optional.empty(), count));
        try (InferenceResponse response = test.server().infer(request)) {
            var tensor = response.outputs().getFirst().tensor();
            assertThat(tensor.spec().datatype()).isEqualTo(Datatype.BYTES);
            assertThat(tensor.spec().shape()).isEqualTo(expected);
            List<String> texts = new ArrayList<>();
            for (long at = 0; at < tensor.bytes().byteSize(); ) {
                int length = tensor.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, at);
                byte[] bytes = tensor.bytes().asSlice(at + 4, length).toArray(ValueLayout.JAVA_BYTE);
                texts.add(new String(bytes, StandardCharsets.UTF_8));
                at += 4 + length;
            }
            return texts;
        }
    }

    @Test
    void shouldNameTheLargestElementsAndLeaveOutMissingLabels() throws IOException {
        open("TYPE_FP32", "", 0.5f, 3.3f, -1f, 2f, 0.1f);
        assertThat(classify(3, Shape.of(3), 1)).containsExactly("3.300000:1", "2.000000:3", "0.500000:0:cat");
        assertThat(classify(9, Shape.of(5), 1)).last().isEqualTo("-1.000000:2:dog\r");
    }

    @Test
    void shouldClassifyEachItemOfABatch() throws IOException {
        open("TYPE_INT32", "max_batch_size: 2", 1, 5, 7, -7);
        assertThat(classify(1, Shape.of(2, 1), 2, 1)).containsExactly("5:1", "7:0:cat");
    }

    @Test
    void shouldOrderUnsignedNumbersAsSuch() throws IOException {
        open("TYPE_UINT64", "", 1L, -1L);
        assertThat(classify(2, Shape.of(2), 1)).containsExactly("18446744073709551615:1", "1:0:cat");
    }

    @Test
    void shouldPrintFloatsAsCDoes() throws IOException {
        open("TYPE_FP64", "", 1e22, Double.NEGATIVE_INFINITY, -1e-9, 0.0000005, 2.5e-6);
        assertThat(classify(5, Shape.of(5), 1))
                .containsExactly(
                        "10000000000000000000000.000000:0:cat",
                        "0.000003:4",
                        "0.000000:3",
                        "-0.000000:2:dog\r",
                        "-inf:1");
    }

    @Test
    void shouldOrderZerosByTheirPlacesAndPutWhatIsNoNumberWhereTritonHasIt() throws IOException {
        open("TYPE_FP64", "", -0.0, 0.0, 1.0);
        assertThat(classify(3, Shape.of(3), 1)).containsExactly("1.000000:2:dog\r", "-0.000000:0:cat", "0.000000:1");
        test.close();
        open("TYPE_FP64", "", 1.0, Double.NaN, 2.0, -Double.NaN);
        assertThat(classify(4, Shape.of(4), 1)).last().asString().matches("-?nan:3");
        assertThat(classify(2, Shape.of(2), 1)).containsExactly("2.000000:2:dog\r", "1.000000:0:cat");
    }

    @Test
    void shouldRefuseTooManyElements() {
        test = new TestServer(repository).model("m", """
                backend: "scripted"
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                """);
        test.open(execution -> execution.output(0, Datatype.FP32, Shape.of(1_000_001), 4_000_004));
        assertThatThrownBy(() -> classify(1, Shape.of(1), 1)).hasMessage("classification output tensor too large");
    }
}
