// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.inference.ModelConfig;
import gatun.wire.v1.InferRequestHeader;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The heap of classes is reserved before they are made. */
class ClassesHeapTest {
    private static final int CLASSES = 1_000_000;

    private final HeapBudget heap = new HeapBudget(8 << 20);

    private record Judge() implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of();
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.newBuilder().setName("judge").build();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1");
        }
    }

    private static InferRequestHeader asking(int classes) {
        InferRequestHeader.Builder header = InferRequestHeader.newBuilder();
        header.addOutputBuilder().setName("scores").getClsBuilder().setCount(classes);
        return header.build();
    }

    private static InferenceResponse response(Arena arena) {
        Tensor scores = new Tensor(new TensorSpec("scores", Datatype.INT8, Shape.of(CLASSES)), arena.allocate(CLASSES));
        return new InferenceResponse("judge", "1", "", List.of(new OutputTensor(scores, false)), Map.of(), List.of());
    }

    @Test
    void shouldRefuseMoreClassesThanThereIsHeapFor() {
        try (Arena arena = Arena.ofConfined();
                InferenceResponse response = response(arena)) {
            // The count is unsigned.
            for (int count : new int[] {CLASSES, -1}) {
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> V1InferResponse.of(asking(count), new Judge(), response, heap))
                        .withMessageContaining("limit-heap-byte-size")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED));
            }
            assertThat(heap.usedBytes()).isZero();
        }
    }

    @Test
    void shouldHoldTheHeapUntilTheAnswerIsSent() {
        try (Arena arena = Arena.ofConfined();
                InferenceResponse response = response(arena)) {
            try (V1InferResponse answer = V1InferResponse.of(asking(1000), new Judge(), response, heap)) {
                assertThat(answer.header().getOutput(0).getBatchClasses(0).getClsCount())
                        .isEqualTo(1000);
                assertThat(heap.usedBytes()).isPositive();
            }
            assertThat(heap.usedBytes()).isZero();
        }
    }
}
