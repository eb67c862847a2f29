// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.Cancellation;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.RequestedOutput;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many clients of ensembles at once, some of whom give up, while the members are loaded anew again and again. */
@Timeout(120)
class EnsembleStressTest extends EnsembleFixture {
    private static final int CLIENTS = 12;
    private static final int REQUESTS = 120;
    private static final List<String> ENSEMBLES = List.of("diamond", "nested", "stream", "streams");

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger givenUp = new AtomicInteger();

    private void open() {
        test.model("twice", model("TWICE", instances(2)))
                .model("next", model("NEXT", instances(3)))
                .model("sum", SUM)
                .model("each", model("EACH", DECOUPLED + " " + instances(2)))
                .model("times", model("TIMES", DECOUPLED))
                .model("diamond", diamond("OUT"))
                .model(
                        "nested",
                        ensemble("IN", "OUT", step("diamond", "IN=IN", "OUT=T"), step("next", "A=T", "NEXT=OUT")))
                .model(
                        "stream",
                        ensemble(
                                        "IN",
                                        "OUT",
                                        step("each", "A=IN", "EACH=T"),
                                        step("diamond", "IN=T", "OUT=U"),
                                        step("next", "A=U", "NEXT=OUT"))
                                .replace("ensemble_scheduling {", "ensemble_scheduling { max_inflight_requests: 3"))
                .model(
                        "streams",
                        ensemble(
                                "IN",
                                "OUT",
                                step("stream", "IN=IN", "OUT=T"),
                                step("times", "A=T", "TIMES=U"),
                                step("twice", "A=U", "TWICE=OUT")))
                .open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                        .onlyModels(ENSEMBLES));
    }

    /** The values that an ensemble must respond with for the elements 0, 1, 2, ... */
    private static List<Float> expected(String ensemble, int elements) {
        List<Float> responses = new ArrayList<>();
        for (int element = 0; element < elements; element++) {
            float diamond = 3 * element + 1;
            switch (ensemble) {
                case "diamond" -> responses.add(diamond);
                case "nested", "stream" -> responses.add(diamond + 1);
                default -> {
                    for (int i = 0; i < diamond + 1; i++) {
                        responses.add(2 * (diamond + 1));
                    }
                }
            }
        }
        return responses;
    }

    private void client(int seed, ExecutorService threads, Arena arena) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < REQUESTS; i++) {
            String ensemble = ENSEMBLES.get(random.nextInt(ENSEMBLES.size()));
            int elements = 1 + random.nextInt(6);
            InferenceRequest request = test.input(test.request(ensemble), "IN", elements);
            request.anyVersion(true);
            boolean single = !ensemble.startsWith("stream");
            FakeRegions.Lease region = new FakeRegions.Lease(arena.allocate(single ? 4L * elements : 4));
            boolean inRegion = random.nextInt(3) == 0;
            if (inRegion) {
                request.addOutput(new RequestedOutput("OUT", Optional.of(region), 0));
                request.hold(region);
            }
            Future<?> cancelling = null;
            if (random.nextInt(4) == 0) {
                long spins = random.nextInt(1 << random.nextInt(18));
                Cancellation cancellation = request.cancellation();
                cancelling = threads.submit(() -> {
                    for (long spin = 0; spin < spins; spin++) {
                        Thread.onSpinWait();
                    }
                    cancellation.cancel();
                });
            }
            List<Float> responses = new ArrayList<>();
            try {
                test.server().infer(request, (response, last) -> {
                    try (response) {
                        MemorySegment bytes =
                                response.outputs().getFirst().tensor().bytes();
                        for (float value : bytes.toArray(ValueLayout.JAVA_FLOAT)) {
                            responses.add(value);
                        }
                    }
                });
                assertThat(responses).as(ensemble).isEqualTo(expected(ensemble, elements));
                answered.incrementAndGet();
            } catch (GatunException e) {
                assertThat(e.code()).as(ensemble + ": " + e.getMessage()).isEqualTo(ErrorCode.CANCELLED);
                assertThat(cancelling).as("nobody gave it up").isNotNull();
                List<Float> whole = expected(ensemble, elements);
                assertThat(responses).as(ensemble + " until then").isEqualTo(whole.subList(0, responses.size()));
                givenUp.incrementAndGet();
            }
            if (cancelling != null) {
                cancelling.get(20, TimeUnit.SECONDS);
            }
            if (inRegion) {
                assertThat(region.closed).as("given back once").isEqualTo(1);
            }
        }
    }

    @Test
    void shouldLoseNothingAndAnswerNothingTwice() throws Exception {
        open();
        try (Arena arena = Arena.ofShared();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int seed = i;
                clients.add(threads.submit(() -> {
                    client(seed, threads, arena);
                    return null;
                }));
            }
            List<String> members = List.of("twice", "next", "sum", "each", "times", "diamond", "stream");
            int reloads = 0;
            while (!clients.stream().allMatch(Future::isDone)) {
                reload(members.get(reloads++ % members.size()));
            }
            assertThat(reloads).as("members were loaded anew meanwhile").isGreaterThan(members.size());
            for (Future<?> client : clients) {
                client.get(100, TimeUnit.SECONDS);
            }
        }
        assertThat(answered.get() + givenUp.get()).isEqualTo(CLIENTS * REQUESTS);
        assertThat(answered.get()).isPositive();
        assertThat(givenUp.get()).isPositive();
        assertThat(test.pool.usedBytes()).as("memory left").isZero();
        test.server().close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
    }
}
