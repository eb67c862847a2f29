// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RegionReleaserTest {
    @Test
    void shouldGoOnAfterAnErrorOfOneRegion() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (RegionReleaser releaser = new RegionReleaser()) {
            assertThat(releaser.tryCount(2)).isTrue();
            assertThat(releaser.tryCount(2)).isTrue();
            releaser.release(() -> {
                throw new InternalError("a fault of the mapping");
            });
            releaser.release(released::countDown);
            assertThat(released.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
