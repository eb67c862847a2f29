// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import gatun.runtime.ControlMode;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EnsembleLoadTest extends EnsembleFixture {
    @Test
    void shouldSayWhichMemberIsMissing() {
        members();
        test.model("absent", ensemble("IN", "OUT", step("nobody", "A=IN", "NEXT=OUT")))
                .model("broken", "backend: \"unknown\"")
                .model("needsbroken", ensemble("IN", "OUT", step("broken", "A=IN", "NEXT=OUT")))
                .model(
                        "version",
                        ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT").replace("-1", "7")))
                .model("circle", ensemble("IN", "OUT", step("ring", "IN=IN", "OUT=OUT")))
                .model("ring", ensemble("IN", "OUT", step("circle", "IN=IN", "OUT=OUT")))
                .open(this::compute);
        assertThat(reason("absent"))
                .isEqualTo("ensemble absent contains models that are not available or ambiguous: nobody");
        assertThat(reason("needsbroken"))
                .isEqualTo(
                        "ensemble 'needsbroken' depends on 'broken' which has no loaded version. Model 'broken' loading"
                                + " failed with error: " + reason("broken"));
        assertThat(reason("version"))
                .isEqualTo("ensemble 'version' depends on 'next' whose required version 7 is not loaded.");
        assertThat(reason("ring"))
                .isEqualTo(
                        "circular dependency between ensembles: ring -> ... -> circle -> ring, in full ring -> circle"
                                + " -> ring");
        assertThat(test.server().ready()).isFalse();
    }

    @Test
    void shouldTellThePolicyOfResponsesWhateverIsWritten() {
        members();
        test.model("graph", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")))
                .open(this::compute);
        ModelConfig config = test.server().model("graph", "").config();
        assertThat(config.hasModelTransactionPolicy()).isTrue();
        assertThat(config.getModelTransactionPolicy().getDecoupled()).isFalse();
    }

    @Test
    void shouldSayHowMembersDoNotFitTogether() {
        members();
        test.model(
                "ints",
                "backend: \"scripted\" input [ { name: \"A\" data_type: TYPE_INT32 dims: [ 4 ] } ] output [ { name: \"INTS\""
                        + " data_type: TYPE_INT32 dims: [ 4 ] } ]");
        test.model(
                "five",
                "backend: \"scripted\" input [ { name: \"A\" data_type: TYPE_INT32 dims: [ 5 ] } ] output [ { name: \"NEXT\" "
                        + VECTOR + " } ]");
        test.model("input", ensemble("IN", "OUT", step("next", "X=IN", "NEXT=OUT")))
                .model("unmapped", ensemble("IN", "OUT", step("sum", "B=IN", "SUM=OUT")))
                .model("output", ensemble("IN", "OUT", step("next", "A=IN", "X=OUT")))
                .model("type", ensemble("IN", "OUT", step("ints", "A=IN", "INTS=OUT")))
                .model(
                        "shape",
                        ensemble("IN", "OUT", step("ints", "A=IN", "INTS=T"), step("five", "A=T", "NEXT=OUT"))
                                .replaceFirst("TYPE_FP32", "TYPE_INT32"))
                .model("single", model("NEXT", "max_batch_size: 1"))
                .model("batch", ensemble("IN", "OUT", step("single", "A=IN", "NEXT=OUT")) + " max_batch_size: 2")
                .open(this::compute);
        assertThat(reason("input"))
                .isEqualTo("in ensemble input, ensemble tensor IN is mapping to non-existing input X in model next");
        assertThat(reason("unmapped"))
                .isEqualTo("in ensemble unmapped, input A in model sum is not mapped to any ensemble tensors");
        assertThat(reason("output"))
                .isEqualTo(
                        "in ensemble output, ensemble tensor OUT is mapped from non-existing output X in model next");
        assertThat(reason("type"))
                .isEqualTo(
                        "in ensemble type, ensemble tensor IN: inconsistent data type: TYPE_FP32 is inferred from model"
                                + " type while TYPE_INT32 is inferred from model ints");
        assertThat(reason("shape"))
                .isEqualTo("in ensemble shape, ensemble tensor T: inconsistent shape: [4] is inferred from model ints"
                        + " while"
                        + " [5] is inferred from model five");
        assertThat(reason("batch"))
                .isEqualTo("ensemble batch allows maximum batch size 2, but it contains model single which only allows"
                        + " maximum batch size to be 1");
    }

    @Test
    void shouldNotServeAnEnsembleWhileAReloadedMemberDoesNotFit() {
        test.model("next", model("NEXT", ""))
                .model("graph", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")))
                .open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                        .onlyModels(List.of("graph")));
        test.model("next", model("NEXT", "").replace("\"A\"", "\"Q\""));
        reload("next");
        assertThat(test.server().index().stream().filter(row -> row.name().equals("graph")))
                .extracting(ModelStatus::state, ModelStatus::reason)
                .containsExactly(tuple(
                        ModelState.UNAVAILABLE,
                        "in ensemble graph, ensemble tensor IN is mapping to non-existing input A in model next"));
        assertThatThrownBy(() -> test.server().model("graph", ""))
                .hasMessage("Request for unknown model: 'graph' has no available versions");
        assertThatThrownBy(() -> test.server().model("graph", "1"))
                .hasMessage("Request for unknown model: 'graph' version 1 is not at ready state");
        test.model("next", model("NEXT", ""));
        reload("next");
        assertThat(reason("graph")).isEmpty();
        try (InferenceResponse response = test.server().infer(test.input(test.request("graph"), "IN", 3))) {
            assertThat(floats(response, 0)).containsExactly(1, 2, 3);
        }
    }
}
