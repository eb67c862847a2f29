// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The work of its members that an ensemble counts. */
@Timeout(60)
class EnsembleStatisticsTest extends EnsembleFixture {
    private ModelStatistics of(String model) {
        return test.server().statistics(model, "").getFirst();
    }

    /** Asserts that the ensemble's stages are those of these members, added up. */
    private void assertSums(String ensemble, String... members) {
        assertSum(ensemble, model -> model.totals().nanos().computeInput(), members);
        assertSum(ensemble, model -> model.totals().nanos().computeInfer(), members);
        assertSum(ensemble, model -> model.totals().nanos().computeOutput(), members);
        ModelStatistics own = of(ensemble);
        assertThat(own.totals().nanos().queue()).isZero();
        BatchStatistics batch = own.batches().getFirst();
        assertThat(batch.computeInputNanos()).isEqualTo(own.totals().nanos().computeInput());
        assertThat(batch.computeInferNanos()).isEqualTo(own.totals().nanos().computeInfer());
        assertThat(batch.computeOutputNanos()).isEqualTo(own.totals().nanos().computeOutput());
    }

    private void assertSum(String ensemble, ToLongFunction<ModelStatistics> stage, String... members) {
        long sum = 0;
        for (String member : members) {
            sum += stage.applyAsLong(of(member));
        }
        assertThat(stage.applyAsLong(of(ensemble))).isEqualTo(sum);
    }

    private InferenceRequest request(String model) {
        return test.input(test.request(model), "IN", 3);
    }

    @Test
    void shouldAddUpTheStagesOfItsMembersThoughTheyRunSideBySide() {
        members();
        test.model("e", diamond("OUT")).open(this::compute);
        Runnable meet = meeting();
        before.put("TWICE", meet);
        before.put("NEXT", meet);
        for (int i = 0; i < 2; i++) {
            test.server().infer(request("e")).close();
        }
        assertSums("e", "twice", "next", "sum");
        ModelStatistics own = of("e");
        assertThat(own.successCount()).isEqualTo(2);
        assertThat(own.executionCount()).isEqualTo(2);
        assertThat(own.totals().nanos().computeInfer()).isPositive();
        assertThat(own.totals().nanos().request())
                .isGreaterThanOrEqualTo(of("twice").totals().nanos().request());
    }

    @Test
    void shouldCountTheWorkOfAnInnerEnsemble() {
        members();
        test.model("inner", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT")))
                .model("outer", ensemble("IN", "OUT", step("inner", "IN=IN", "OUT=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        test.server().infer(request("outer")).close();
        assertSums("inner", "twice");
        assertSums("outer", "inner", "next");
    }

    @Test
    void shouldCountWhatRunsForEachResponseOfADecoupledMember() {
        members();
        test.model("each", model("EACH", DECOUPLED))
                .model("e", ensemble("IN", "OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        test.server().infer(request("e"), (response, last) -> response.close());
        assertSums("e", "each", "next");
        assertThat(of("next").executionCount()).isEqualTo(3);
        assertThat(of("e").executionCount()).isEqualTo(1);
    }

    @Test
    void shouldCountNoWorkForWhatAMemberRemembers() {
        members();
        test.model("next", model("NEXT", "response_cache { enable: true }"))
                .model("e", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")))
                .open(this::compute, options -> options.responseCacheByteSize(1 << 20));
        test.server().infer(request("e")).close();
        test.server().infer(request("e")).close();
        assertThat(of("next").cache().hitCount()).isEqualTo(1);
        assertThat(of("next").executionCount()).isEqualTo(1);
        assertSums("e", "next");
        assertThat(of("e").successCount()).isEqualTo(2);
    }

    @Test
    void shouldCountAFailureWithThatOfItsMemberAndNoWorkForIt() {
        members();
        test.model("e", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        before.put("NEXT", () -> {
            throw GatunException.invalidArgument("no more");
        });
        assertThatThrownBy(() -> test.server().infer(request("e"))).isInstanceOf(GatunException.class);
        ModelStatistics own = of("e");
        assertThat(own.failureCount()).isEqualTo(2);
        assertThat(of("next").failureCount()).isEqualTo(1);
        assertThat(own.totals().failures().other()).isEqualTo(2);
        assertThat(own.totals().failures().nanos())
                .isGreaterThanOrEqualTo(of("next").totals().failures().nanos());
        assertThat(own.totals().nanos().computeInfer()).isZero();
        assertThat(of("twice").successCount()).isEqualTo(1);
    }
}
