// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cached responses of ensembles and of their members, when members are loaded anew. */
@Timeout(60)
class EnsembleCacheTest extends EnsembleFixture {
    private static final String CACHED = " response_cache { enable: true }";

    private final Map<String, Integer> runs = new ConcurrentHashMap<>();

    /** A server with the ensemble "e", in which twice follows next, and the ensemble "outer" around it. */
    private void open(String ofMembers, String ofEnsembles) {
        for (String output : List.of("TWICE", "NEXT")) {
            before.put(output, () -> runs.merge(output, 1, Integer::sum));
        }
        test.model("twice", model("TWICE", ofMembers))
                .model("next", model("NEXT", ofMembers))
                .model(
                        "e",
                        ensemble("IN", "OUT", step("next", "A=IN", "NEXT=T"), step("twice", "A=T", "TWICE=OUT"))
                                + ofEnsembles)
                .model("outer", ensemble("IN", "OUT", step("e", "IN=IN", "OUT=OUT")) + ofEnsembles)
                .open(this::compute, options -> options.responseCacheByteSize(1 << 20)
                        .controlMode(ControlMode.EXPLICIT)
                        .onlyModels(List.of("outer")));
    }

    private float ask(String model) {
        try (InferenceResponse response = test.server().infer(test.input(test.request(model), "IN", 1))) {
            return floats(response, 0)[0];
        }
    }

    @Test
    void shouldForgetTheAnswersOfEnsemblesWhenAMemberIsLoadedAnew() {
        open("", CACHED);
        assertThat(ask("outer")).isEqualTo(2);
        assertThat(ask("outer")).isEqualTo(2);
        assertThat(ask("e")).as("remembered inside, too").isEqualTo(2);
        assertThat(runs).containsEntry("NEXT", 1).containsEntry("TWICE", 1);

        increment = 10;
        assertThat(ask("outer")).as("as long as the member is the same").isEqualTo(2);
        reload("next");
        assertThat(ask("outer")).isEqualTo(20);
        assertThat(ask("e")).isEqualTo(20);
        assertThat(runs).containsEntry("NEXT", 2).containsEntry("TWICE", 2);
    }

    @Test
    void shouldTellEachRequestItsOwnPlaceInTheSequence() {
        open("", CACHED);
        assertThat(ask("e")).isEqualTo(2);
        InferenceRequest last = test.input(test.request("e"), "IN", 1);
        last.correlationId(7);
        last.sequenceEnd(true);
        try (InferenceResponse response = test.server().infer(last)) {
            assertThat(response.parameters())
                    .containsEntry("sequence_id", new ParameterValue.Int64(7))
                    .containsEntry("sequence_end", new ParameterValue.Bool(true));
        }
        assertThat(runs).as("remembered").containsEntry("NEXT", 1);
    }

    @Test
    void shouldForgetTheAnswersOfThatMemberOnly() {
        open(CACHED, "");
        assertThat(ask("e")).isEqualTo(2);
        assertThat(ask("outer")).isEqualTo(2);
        assertThat(runs).containsEntry("NEXT", 1).containsEntry("TWICE", 1);

        reload("next");
        assertThat(ask("e")).isEqualTo(2);
        assertThat(runs).as("asked the same as before").containsEntry("NEXT", 2).containsEntry("TWICE", 1);

        increment = 10;
        reload("next");
        assertThat(ask("e")).isEqualTo(20);
        assertThat(runs).containsEntry("NEXT", 3).containsEntry("TWICE", 2);
    }

    @Test
    void shouldRememberBothAtOnce() {
        open(CACHED, CACHED);
        assertThat(ask("outer")).isEqualTo(2);
        assertThat(ask("e")).isEqualTo(2);
        reload("twice");
        assertThat(ask("outer")).isEqualTo(2);
        assertThat(runs)
                .as("of the member that stayed")
                .containsEntry("NEXT", 1)
                .containsEntry("TWICE", 2);
    }

    @Test
    void shouldNotRememberAnAnswerOfWhichAMemberWasReplacedMeanwhile() throws Exception {
        open("", CACHED);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch replaced = new CountDownLatch(1);
        before.put("TWICE", () -> {
            running.countDown();
            Await.opened(replaced);
        });
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Float> early = threads.submit(() -> ask("e"));
            Await.opened(running);
            increment = 10;
            reload("next");
            replaced.countDown();
            assertThat(early.get(20, TimeUnit.SECONDS)).as("begun before").isEqualTo(2);
        }
        assertThat(ask("e")).isEqualTo(20);
    }
}
