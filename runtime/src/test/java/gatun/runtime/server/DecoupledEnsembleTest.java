// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DecoupledEnsembleTest extends EnsembleFixture {
    private void openDecoupled(String outputs, String... steps) {
        members();
        test.model("each", model("EACH", DECOUPLED));
        test.model("e", ensemble("IN", outputs, steps)).open(this::compute);
    }

    @Test
    void shouldRunWhatFollowsADecoupledMemberOncePerResponse() {
        openDecoupled(
                "OUT",
                step("next", "A=IN", "NEXT=T"),
                step("each", "A=T", "EACH=U"),
                step("sum", "A=V B=W", "SUM=OUT"),
                step("twice", "A=U", "TWICE=V"),
                step("same", "A=U", "SAME=W"));
        List<Float> responses = new ArrayList<>();
        test.server().infer(test.input(test.request("e"), "IN", 3), (response, last) -> {
            try (response) {
                assertThat(response.modelName()).isEqualTo("e");
                responses.add(floats(response, 0)[0]);
            }
        });
        assertThat(responses).as("thrice each element plus one").containsExactly(3F, 6F, 9F);
        assertThat(test.server().model("e", "").decoupled()).isTrue();
        assertThat(test.server().statistics("twice", "").getFirst().successCount())
                .isEqualTo(3);
        assertThat(test.server().statistics("e", "").getFirst().successCount()).isEqualTo(1);
        assertThat(test.server().latencies())
                .filteredOn(model -> model.model().name().equals("e"))
                .singleElement()
                .satisfies(model -> {
                    assertThat(model.decoupled()).isTrue();
                    assertThat(model.total().firstResponse().count()).isEqualTo(1);
                });
        InferenceRequest unary = test.input(test.request("e"), "IN", 3);
        assertThatThrownBy(() -> test.server().infer(unary)).extracting("code").isEqualTo(ErrorCode.UNSUPPORTED);
    }

    @Test
    void shouldMarkTheLastResponseWhereTheDecoupledMemberHasEndedBefore() {
        openDecoupled("OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"));
        beforeElement.put("NEXT", element -> {
            if (element == 2) {
                Await.until(
                        "the decoupled member has ended",
                        () -> test.server().statistics("each", "").getFirst().successCount() == 1);
            }
        });
        List<Boolean> marked = new ArrayList<>();
        test.server().infer(test.input(test.request("e"), "IN", 3), (response, last) -> {
            response.close();
            marked.add(last);
        });
        assertThat(marked).containsExactly(false, false, true);
    }

    @Test
    void shouldShowInEachAnswerWhatIsMadeOncePerRequest() {
        openDecoupled("OUT T IN", step("next", "A=IN", "NEXT=T"), step("each", "A=T", "EACH=OUT"));
        List<String> responses = new ArrayList<>();
        test.server().infer(test.input(test.request("e"), "IN", 2), (response, last) -> {
            try (response) {
                responses.add(floats(response, 0)[0] + " " + floats(response, 1)[1] + " " + floats(response, 2)[1]);
            }
        });
        assertThat(responses).containsExactly("1.0 2.0 1.0", "2.0 2.0 1.0");
    }

    @Test
    void shouldEndADecoupledMemberWhenAStepBehindItFails() {
        openDecoupled("OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"));
        CountDownLatch failed = new CountDownLatch(1);
        beforeElement.put("NEXT", element -> {
            if (element == 1) {
                failed.countDown();
                throw GatunException.invalidArgument("the second is too much");
            }
        });
        AtomicInteger sent = new AtomicInteger();
        before.put("EACH", sent::incrementAndGet);
        List<Float> responses = new ArrayList<>();
        InferenceRequest request = test.input(test.request("e"), "IN", 1000);
        assertThatThrownBy(() -> test.server().infer(request, (response, last) -> {
                    try (response) {
                        responses.add(floats(response, 0)[0]);
                        Await.opened(failed);
                    }
                }))
                .hasMessage("in ensemble 'e', the second is too much");
        assertThat(responses).as("what came before is answered").containsExactly(1F);
        assertThat(sent.get()).as("the member was told to stop").isLessThan(100);
    }

    @Test
    void shouldThrowWhatTheReceiverThrows() {
        openDecoupled("OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"));
        InferenceRequest request = test.input(test.request("e"), "IN", 1000);
        assertThatThrownBy(() -> test.server().infer(request, (response, last) -> {
                    response.close();
                    throw new IllegalStateException("the client is gone");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the client is gone");
    }

    @Test
    void shouldRefuseToJoinResponsesOfDifferentDecoupledMembers() {
        members();
        test.model("each", model("EACH", DECOUPLED));
        test.model(
                        "join",
                        ensemble(
                                "IN",
                                "OUT",
                                step("each", "A=IN", "EACH=T"),
                                step("each", "A=IN", "EACH=U"),
                                step("sum", "A=T B=U", "SUM=OUT")))
                .model(
                        "cached",
                        ensemble("IN", "OUT", step("each", "A=IN", "EACH=OUT")) + " response_cache { enable: true }")
                .model("two", ensemble("IN", "OUT T", step("each", "A=IN", "EACH=T"), step("each", "A=IN", "EACH=OUT")))
                .open(this::compute);
        assertThat(reason("join"))
                .isEqualTo("in ensemble join, step of model 'sum' receives inputs originated from different decoupled"
                        + " models");
        assertThat(reason("cached"))
                .isEqualTo("Response Cache does not currently support model cached with 'decoupled' transaction policy."
                        + " Please disable the response cache.");
        assertThat(reason("two"))
                .isEqualTo("in ensemble two, step of model 'two' receives inputs originated from different decoupled"
                        + " models: the ensemble's outputs must come from one of them");
    }

    @Test
    void shouldBeMadeAnewWhenAMemberBecomesDecoupledAndWhenItCeasesToBe() {
        test.model("next", model("NEXT", ""))
                .model("inner", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")))
                .model("outer", ensemble("IN", "OUT", step("inner", "IN=IN", "OUT=OUT")))
                .open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                        .onlyModels(List.of("outer")));
        for (String policy : List.of(DECOUPLED, "")) {
            test.model("next", model("NEXT", policy));
            reload("next");

            Await.until("both ensembles are what their member is", () -> {
                boolean decoupled = !policy.isEmpty();
                return isReady("outer", decoupled) && isReady("inner", decoupled);
            });
            AtomicInteger responses = new AtomicInteger();
            test.server().infer(test.input(test.request("outer"), "IN", 3), (response, last) -> {
                response.close();
                responses.incrementAndGet();
            });
            assertThat(responses).hasPositiveValue();
        }
    }

    private boolean isReady(String name, boolean decoupled) {
        try {
            return test.server().model(name, "").decoupled() == decoupled;
        } catch (GatunException beingMadeAnew) {
            return false;
        }
    }
}
