// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ensembles whose members have other dimensions than they themselves. */
@Timeout(60)
class EnsembleShapesTest extends EnsembleFixture {
    /** The shape that each member's last run had, by its output. */
    private final Map<String, Shape> seen = new ConcurrentHashMap<>();

    private void record(Execution execution) {
        seen.put(execution.outputName(0), execution.input(0).spec().shape());
        compute(execution);
    }

    private static String member(String output, String dims, int maxBatchSize) {
        return model(output, "").replace("[ -1 ]", "[ " + dims + " ]") + " max_batch_size: " + maxBatchSize;
    }

    private static String pair(String dims, int maxBatchSize) {
        return ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT"))
                        .replace("[ -1 ]", "[ " + dims + " ]")
                + " max_batch_size: " + maxBatchSize;
    }

    private Shape answered(long... dims) {
        try (InferenceResponse response = test.server().infer(test.input(test.request("e"), "IN", dims))) {
            TensorSpec spec = response.outputs().getFirst().tensor().spec();
            assertThat(spec).isEqualTo(new TensorSpec("OUT", Datatype.FP32, spec.shape()));
            assertThat(floats(response, 0)).startsWith(1, 3, 5);
            return spec.shape();
        }
    }

    @Test
    void shouldGiveAMemberThatDoesNotBatchTheWholeBatchWhereItsDimensionsSaySo() {
        test.model("twice", member("TWICE", "3", 8))
                .model("next", member("NEXT", "-1, 3", 0))
                .model("e", pair("3", 4))
                .open(this::record);

        assertThat(answered(2, 3)).isEqualTo(Shape.of(2, 3));
        assertThat(seen).containsEntry("TWICE", Shape.of(2, 3)).containsEntry("NEXT", Shape.of(2, 3));
    }

    @Test
    void shouldGiveAMemberThatDoesNotBatchTheOnlyRowOfABatch() {
        test.model("twice", member("TWICE", "3", 0))
                .model("next", member("NEXT", "3", 8))
                .model("e", pair("3", 4))
                .open(this::record);

        assertThat(answered(1, 3)).isEqualTo(Shape.of(1, 3));
        assertThat(seen).containsEntry("TWICE", Shape.of(3)).containsEntry("NEXT", Shape.of(1, 3));
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("e"), "IN", 2, 3)))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageStartingWith("in ensemble 'e', ")
                .hasMessageContaining("unexpected shape for input 'A' for model 'twice'");
    }

    @Test
    void shouldReshapeItsOwnTensors() {
        String reshaped = pair("6", 4)
                .replaceFirst("dims: \\[ 6 ]", "dims: [ 6 ] reshape { shape: [ 2, 3 ] }")
                .replaceFirst("(\"OUT\".*?)dims: \\[ 6 ]", "$1dims: [ 3, 2 ] reshape { shape: [ 2, 3 ] }");
        test.model("twice", member("TWICE", "2, 3", 8))
                .model("next", member("NEXT", "2, 3", 8))
                .model("e", reshaped)
                .model("unlike", reshaped.replaceFirst("reshape \\{ shape: \\[ 2, 3 ] }", ""))
                .open(this::record);

        assertThat(answered(4, 6)).isEqualTo(Shape.of(4, 3, 2));
        assertThat(seen).containsEntry("TWICE", Shape.of(4, 2, 3));
        assertThat(test.server().model("e", "").inputs())
                .containsExactly(new TensorSpec("IN", Datatype.FP32, Shape.of(-1, 6)));
        assertThat(reason("unlike"))
                .isEqualTo("in ensemble unlike, ensemble tensor IN: inconsistent shape: [-1,6] is inferred from model"
                        + " unlike while [-1,2,3] is inferred from model twice");
    }
}
