// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LeaseCountTest {
    private final AtomicInteger releases = new AtomicInteger();
    private final LeaseCount leases = new LeaseCount(releases::incrementAndGet);

    @Test
    void shouldReleaseAtOnceWhenNobodyIsInside() {
        leases.retire();
        assertThat(releases).hasValue(1);
        assertThat(leases.tryAcquire()).isFalse();
    }

    @Test
    void shouldReleaseWhenTheLastUserHasLeft() {
        assertThat(leases.tryAcquire()).isTrue();
        assertThat(leases.tryAcquire()).isTrue();
        leases.retire();
        leases.release();
        assertThat(releases).hasValue(0);
        leases.release();
        assertThat(releases).hasValue(1);
    }

    @Test
    void shouldReleaseOnceHoweverOftenItIsRetired() {
        assertThat(leases.tryAcquire()).isTrue();
        leases.retire();
        leases.retire();
        leases.release();
        leases.retire();
        assertThat(releases).hasValue(1);
    }

    @Test
    void shouldLetOthersInUntilTheLastUserOfALeavingOneHasLeft() {
        assertThat(leases.tryAcquire()).isTrue();
        assertThat(leases.isLeaving()).isFalse();
        leases.retireWhenUnused();
        assertThat(leases.isLeaving()).isTrue();
        assertThat(leases.tryAcquire()).isTrue();
        leases.release();
        assertThat(releases).hasValue(0);
        leases.release();
        assertThat(releases).hasValue(1);
        assertThat(leases.tryAcquire()).isFalse();

        leases.retireWhenUnused();
        leases.retire();
        assertThat(releases).hasValue(1);
    }

    @Test
    void shouldReleaseALeavingOneAtOnceWhenNobodyIsInside() {
        leases.retireWhenUnused();
        assertThat(releases).hasValue(1);
        assertThat(leases.tryAcquire()).isFalse();
    }

    @Test
    void shouldNeverReleaseUnderAUserNorForgetToRelease() throws Exception {
        int userCount = 3;
        int rounds = 20_000;
        CyclicBarrier start = new CyclicBarrier(userCount + 1);
        Resource[] resources = new Resource[rounds];
        for (int i = 0; i < rounds; i++) {
            resources[i] = new Resource();
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(userCount + 1)) {
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < userCount; t++) {
                results.add(threads.submit(() -> {
                    start.await();
                    for (Resource resource : resources) {
                        resource.useUntilRetired();
                    }
                    return 0;
                }));
            }
            results.add(threads.submit(() -> {
                start.await();
                for (Resource resource : resources) {
                    resource.leases.retire();
                }
                return 0;
            }));
            for (Future<?> result : results) {
                result.get(60, TimeUnit.SECONDS);
            }
        }
        for (Resource resource : resources) {
            assertThat(resource.usedAfterRelease).isFalse();
            assertThat(resource.releases).hasValue(1);
        }
    }

    private static final class Resource {
        private final AtomicInteger releases = new AtomicInteger();
        private final LeaseCount leases = new LeaseCount(releases::incrementAndGet);
        private volatile boolean usedAfterRelease;

        private void useUntilRetired() {
            for (int i = 0; i < 50 && leases.tryAcquire(); i++) {
                if (releases.get() != 0) {
                    usedAfterRelease = true;
                }
                leases.release();
            }
        }
    }
}
