// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.testing.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EnsembleCloseTest extends EnsembleFixture {
    private float[] answer() {
        try (InferenceResponse response = test.server().infer(test.input(test.request("chain"), "IN", 3))) {
            return floats(response, 0);
        }
    }

    @Test
    void shouldTakeTheLaterStepsOfWhatWasAccepted() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        before.put("TWICE", () -> {
            running.countDown();
            Await.opened(release);
        });
        members();
        test.model("chain", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        ModelVersion chain = test.server().model("chain", "");
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<float[]> accepted = threads.submit(this::answer);
            Await.opened(running);
            test.server().announceStop();
            Future<?> closing = threads.submit(() -> test.server().close());
            Await.until("the ensemble to stop", () -> !chain.ready());
            release.countDown();

            assertThat(accepted.get(20, TimeUnit.SECONDS)).containsExactly(1, 3, 5);
            closing.get(20, TimeUnit.SECONDS);
        }
    }
}
