// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.Input;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits on the heap that messages of TensorFlow Serving's clients may take. */
class TensorFlowLimitsTest {
    private final Arena arena = Arena.ofConfined();
    private final HeapBudget heap = new HeapBudget(8 << 20);
    private final PredictDecoder predictions = new PredictDecoder(RequestLimits.STANDARD, heap);
    private final ExampleDecoder examples = new ExampleDecoder(RequestLimits.STANDARD, heap);

    @AfterEach
    void nothingShouldBeReserved() {
        assertThat(heap.usedBytes()).isZero();
        arena.close();
    }

    private MemorySegment segment(byte[] message) {
        return arena.allocate(message.length).copyFrom(MemorySegment.ofArray(message));
    }

    private static void requireRefused(Runnable work, String flag) {
        assertThatThrownBy(work::run)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining(flag);
    }

    /** A million empty fields. */
    private static byte[] million(int field) {
        byte[] fields = new byte[2_000_000];
        for (int i = 0; i < fields.length; i += 2) {
            fields[i] = (byte) (field << 3 | 2);
        }
        return fields;
    }

    @Test
    void shouldCountInputsOutputsAndTasksBeforeTheyBecomeObjects() {
        requireRefused(() -> predictions.decode(segment(million(2))), "inputs");
        requireRefused(() -> predictions.decode(segment(million(3))), "outputs");
        requireRefused(() -> examples.decodeTasks(segment(million(1))), "limit-tensors");
    }

    @ParameterizedTest
    @CsvSource({"name", "signature", "label", "filter"})
    void shouldRefuseTextsThatNobodyNeeds(String text) {
        String longText = "x".repeat(70_000);
        ModelSpec.Builder spec = ModelSpec.newBuilder();
        PredictRequest.Builder request = PredictRequest.newBuilder();
        switch (text) {
            case "name" -> spec.setName(longText);
            case "signature" -> spec.setSignatureName(longText);
            case "label" -> spec.setVersionLabel(longText);
            default -> request.addOutputFilter(longText);
        }
        byte[] message = request.setModelSpec(spec).build().toByteArray();
        requireRefused(() -> predictions.decode(segment(message)), "limit-text-byte-size");
        if (!text.equals("filter")) {
            requireRefused(() -> examples.decode(segment(message)), "limit-text-byte-size");
        }
    }

    private ExampleInput input(Input input) {
        return examples.decode(segment(message(input).toByteArray())).input();
    }

    private static ByteString message(Input input) {
        return ClassificationRequest.newBuilder().setInput(input).build().toByteString();
    }

    @Test
    void shouldFindAnyNumberOfExamplesWhereTheyLie() {
        byte[] list = million(1);
        Input input = Input.newBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                1,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(ByteString.copyFrom(list))
                                        .build())
                        .build())
                .build();

        assertThat(input(input).count()).isEqualTo(1_000_000);
    }

    @Test
    void shouldTakeTheListThatWasSetLast() {
        Input first = Input.newBuilder()
                .setExampleList(Input.getDefaultInstance().getExampleList().toBuilder()
                        .addExamples(Example.getDefaultInstance()))
                .build();
        Input.Builder second = Input.newBuilder();
        second.getExampleListWithContextBuilder()
                .addExamples(Example.getDefaultInstance())
                .addExamples(Example.getDefaultInstance());
        ByteString both = message(first).concat(message(second.build())).concat(message(second.build()));

        assertThat(examples.decode(segment(both.toByteArray())).input().count()).isEqualTo(4);
    }

    @Test
    void shouldNotCopyALongContextBeforeThousandsOfExamples() {
        Input.Builder input = Input.newBuilder();
        input.getExampleListWithContextBuilder()
                .setContext(Example.newBuilder()
                        .setUnknownFields(UnknownFieldSet.newBuilder()
                                .addField(
                                        9,
                                        UnknownFieldSet.Field.newBuilder()
                                                .addLengthDelimited(ByteString.copyFrom(new byte[100_000]))
                                                .build())
                                .build()));
        for (int i = 0; i < 1_000; i++) {
            input.getExampleListWithContextBuilder().addExamples(Example.getDefaultInstance());
        }
        requireRefused(() -> input(input.build()), "before each of 1000 examples");
    }
}
