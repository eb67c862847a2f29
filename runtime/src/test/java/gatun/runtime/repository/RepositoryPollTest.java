// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RepositoryPollTest {
    @Test
    void shouldLookAgainAfterALookThatFailedOrInterrupted() throws Exception {
        CountDownLatch looks = new CountDownLatch(3);
        RepositoryPoll poll = RepositoryPoll.start(Duration.ofMillis(1), () -> {
            looks.countDown();
            if (looks.getCount() == 2) {
                Thread.currentThread().interrupt();
            } else {
                throw new NoClassDefFoundError("com/example/Missing");
            }
        });
        assertThat(looks.await(20, TimeUnit.SECONDS)).isTrue();
        poll.close();
    }
}
