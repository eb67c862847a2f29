// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus.ModelState;
import gatun.testing.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An ensemble asks "sum", which serves, and "next", whose load is held: "sum" is to stay until the ensemble's load has
 * ended.
 */
@Timeout(60)
class UnloadDuringLoadTest extends EnsembleFixture {
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicBoolean first = new AtomicBoolean(true);
    private volatile boolean broken;

    @BeforeEach
    void open() {
        members();
        test.model("graph", ensemble("IN", "OUT", step("sum", "A=IN", "SUM=T"), step("next", "A=T", "NEXT=OUT")))
                .model("outer", ensemble("IN", "OUT", step("inner", "A=IN", "SUM=T"), step("next", "A=T", "NEXT=OUT")))
                .model("inner", ensemble("A", "SUM", step("sum", "A=A", "SUM=SUM")))
                .open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                        .onlyModels(List.of("inner", "sum")));
        test.backend.beforeLoad = () -> {
            if (first.getAndSet(false)) {
                held.countDown();
                Await.opened(go);
                if (broken) {
                    throw GatunException.invalidArgument("the engine is broken");
                }
            }
        };
    }

    private FutureTask<?> load(String model) {
        FutureTask<?> load = new FutureTask<>(() -> test.server().load(model, ModelOverride.NONE), null);
        Thread.ofPlatform().start(load);
        return load;
    }

    /** Asks for the load of a model that asks "next", and waits until that is being loaded. */
    private FutureTask<?> loadHeld(String model) {
        FutureTask<?> load = load(model);
        Await.opened(held);
        return load;
    }

    /** Asks for the end of "sum", and waits until the server has heard of it. */
    private FutureTask<?> unloadSum(boolean dependents) {
        FutureTask<?> unload = new FutureTask<>(() -> test.server().unload("sum", dependents), null);
        Thread thread = Thread.ofPlatform().start(unload);
        Await.until(
                "the server has it",
                () -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TERMINATED);
        return unload;
    }

    private static void assertEnds(FutureTask<?> change) throws Exception {
        change.get(30, TimeUnit.SECONDS);
    }

    private ModelState state(String model) {
        return test.server().index().stream()
                .filter(row -> row.name().equals(model))
                .findFirst()
                .orElseThrow()
                .state();
    }

    private void assertAnswers(String model, float... expected) {
        try (InferenceResponse response = test.server().infer(test.input(test.request(model), "IN", 3))) {
            assertThat(floats(response, 0)).containsExactly(expected);
        }
    }

    @Test
    void shouldUnloadAMemberOnceTheEnsembleIsLoaded() throws Exception {
        FutureTask<?> load = loadHeld("graph");
        FutureTask<?> unload = unloadSum(false);

        assertThat(state("sum")).isEqualTo(ModelState.READY);
        assertEnds(load("twice"));
        go.countDown();

        assertEnds(load);
        assertEnds(unload);
        assertThat(state("graph")).isEqualTo(ModelState.UNAVAILABLE);
        assertThat(reason("graph")).isEqualTo("ensemble 'graph' depends on 'sum' which has no loaded version.");
        assertThatThrownBy(() -> test.server().model("sum", ""))
                .hasMessage("Request for unknown model: 'sum' has no available versions");
    }

    @Test
    void shouldUnloadAMemberOfAMemberOnceTheEnsembleIsLoaded() throws Exception {
        FutureTask<?> load = loadHeld("outer");
        FutureTask<?> unload = unloadSum(false);
        go.countDown();

        assertEnds(load);
        assertEnds(unload);
        assertThat(state("outer")).isEqualTo(ModelState.UNAVAILABLE);
    }

    @Test
    void shouldUnloadAMemberThoughTheLoadFails() throws Exception {
        broken = true;
        FutureTask<?> load = loadHeld("graph");
        FutureTask<?> unload = unloadSum(false);
        go.countDown();

        assertThatThrownBy(() -> assertEnds(load))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("the engine is broken");
        assertEnds(unload);
        assertThat(state("sum")).isNotEqualTo(ModelState.READY);
    }

    @Test
    void shouldLoadAMemberAgainThatIsAboutToGo() throws Exception {
        test.model("other", ensemble("IN", "OUT", step("sum", "A=IN", "SUM=OUT")));
        FutureTask<?> load = loadHeld("graph");
        FutureTask<?> unload = unloadSum(false);
        FutureTask<?> other = load("other");
        go.countDown();

        assertEnds(load);
        assertEnds(unload);
        assertEnds(other);
        assertAnswers("other", 0, 1, 2);
        Await.until("the ensemble has its member again", () -> state("graph") == ModelState.READY);
        assertAnswers("graph", 1, 2, 3);
    }

    @Test
    void shouldUnloadTheEnsembleToo() throws Exception {
        FutureTask<?> load = loadHeld("graph");
        FutureTask<?> unload = unloadSum(true);
        assertThatThrownBy(() -> assertEnds(load)).hasMessageContaining("the model was unloaded meanwhile");
        go.countDown();

        assertEnds(unload);
        Await.until(
                "both are gone",
                () -> reason("graph").equals("unloaded") && reason("sum").equals("unloaded"));
    }
}
