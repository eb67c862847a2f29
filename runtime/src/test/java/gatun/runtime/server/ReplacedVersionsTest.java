// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus.ModelState;
import gatun.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Models and members of ensembles that others take the place of while requests are on their way to them. */
@Timeout(60)
class ReplacedVersionsTest extends EnsembleFixture {
    private static final String GRAPH = ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT"));

    /** Opens with the next reload. */
    private volatile CountDownLatch nextReload = new CountDownLatch(1);

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();

    private void open() {
        test.open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("graph")));
    }

    /** Has a model loaded anew, and lets those go on who wait for that. */
    private void replace(String model) {
        reload(model);
        CountDownLatch done = nextReload;
        nextReload = new CountDownLatch(1);
        done.countDown();
    }

    /** Asks again and again; {@code patient} clients let a reload pass between finding the model and asking it. */
    private void ask(String model, String input, boolean patient) {
        while (!over.get()) {
            CountDownLatch reload = nextReload;
            InferenceRequest request = test.request(model);
            request.anyVersion(true);
            test.input(request, input, 3);
            if (patient) {
                Await.opened(reload);
            }
            try (InferenceResponse response = test.server().infer(request)) {
                assertThat(floats(response, 0)).containsExactly(1, 2, 3);
            }
            answered.incrementAndGet();
        }
    }

    @Test
    void shouldAnswerWhoeverFoundAVersionBeforeAnotherTookItsPlace() throws Exception {
        test.model("next", model("NEXT", "")).model("graph", GRAPH);
        open();
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (boolean patient : new boolean[] {true, false}) {
                clients.add(threads.submit(() -> ask("next", "A", patient)));
                clients.add(threads.submit(() -> ask("graph", "IN", patient)));
                clients.add(threads.submit(() -> ask("graph", "IN", patient)));
            }
            try {
                for (int i = 0; i < 40; i++) {
                    int before = answered.get();
                    replace(i % 3 == 2 ? "graph" : "next");
                    Await.until(
                            "clients are answered",
                            () -> answered.get() >= before + 6
                                    || clients.stream().anyMatch(Future::isDone));
                }
            } finally {
                over.set(true);
                nextReload.countDown();
            }
        }
        for (Future<?> client : clients) {
            client.get(1, TimeUnit.SECONDS);
        }
        assertThat(answered).hasValueGreaterThan(40 * 6);
    }

    @Test
    void shouldLoadAnEnsembleOnceItsBrokenMemberIsMended() {
        test.model("next", "backend: \"unknown\"").model("graph", GRAPH);
        test.open(
                this::compute, options -> options.controlMode(ControlMode.POLL).pollInterval(Duration.ofMillis(20)));
        assertThat(reason("graph")).startsWith("ensemble 'graph' depends on 'next' which has no loaded version.");
        test.model("next", model("NEXT", ""));
        Await.until("the ensemble is ready", () -> test.server().index().stream()
                .anyMatch(row -> row.name().equals("graph") && row.state() == ModelState.READY));
        try (InferenceResponse response = test.server().infer(test.input(test.request("graph"), "IN", 3))) {
            assertThat(floats(response, 0)).containsExactly(1, 2, 3);
        }
    }
}
