// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalCacheTest {
    private static final int KILOBYTE = 1024;

    /** As much as a kilobyte takes with its description. */
    private static final int FULL = KILOBYTE - 64;

    private final LocalCache cache = new LocalCache(4 * KILOBYTE);
    private final LocalCache.Share share = cache.share();

    @AfterEach
    void close() {
        cache.close();
        assertThat(cache.usedBytes()).isZero();
    }

    private static SipHash.Digest request(int number) {
        return new SipHash.Digest(number, 0);
    }

    private void put(LocalCache.Share owner, int request, int byteSize) {
        try (Arena arena = Arena.ofConfined()) {
            var bytes = arena.allocate(byteSize);
            bytes.fill((byte) request);
            cache.put(
                    owner,
                    request(request),
                    List.of(new Tensor(new TensorSpec("OUT", Datatype.UINT8, Shape.of(byteSize)), bytes)));
        }
    }

    /** The value of every byte of the response; empty when there is none. */
    private Optional<Integer> get(LocalCache.Share owner, int request) {
        return cache.find(owner, request(request)).map(found -> {
            byte[] bytes = found.outputs().getFirst().bytes().toArray(ValueLayout.JAVA_BYTE);
            found.claim().close();
            for (byte value : bytes) {
                assertThat(value).isEqualTo(bytes[0]);
            }
            return (int) bytes[0];
        });
    }

    @Test
    void shouldFindWhatWasPutInForThatOwnerAndRequestOnly() {
        put(share, 1, 100);
        assertThat(get(share, 1)).hasValue(1);
        assertThat(get(share, 2)).isEmpty();
        assertThat(get(cache.share(), 1)).isEmpty();
        put(share, 1, 50);
        assertThat(cache.entryCount()).isEqualTo(1);
    }

    @Test
    void shouldGiveUpWhatWasNotWantedForLongest() {
        for (int i = 1; i <= 4; i++) {
            put(share, i, FULL);
        }
        assertThat(get(share, 1)).hasValue(1);
        put(share, 5, FULL);
        assertThat(get(share, 2)).isEmpty();
        assertThat(get(share, 1)).hasValue(1);
        assertThat(get(share, 5)).hasValue(5);
        assertThat(cache.usedBytes()).isEqualTo(cache.byteLimit());
        put(share, 6, 3 * KILOBYTE - 64);
        assertThat(get(share, 6)).hasValue(6);
        assertThat(cache.entryCount()).isEqualTo(2);
    }

    @Test
    void shouldLeaveOutWhatIsLargerThanTheWhole() {
        put(share, 1, KILOBYTE);
        put(share, 2, 5 * KILOBYTE);
        assertThat(get(share, 2)).isEmpty();
        assertThat(get(share, 1)).as("for which nothing had to go").hasValue(1);
    }

    @Test
    void shouldCountWhatDescribesAResponse() {
        put(share, 1, 4 * KILOBYTE);
        assertThat(get(share, 1)).isEmpty();
        put(share, 1, 4 * KILOBYTE - 64);
        assertThat(get(share, 1)).hasValue(1);
    }

    @Test
    void shouldKeepTheMemoryOfAnEvictedResponseForThoseWhoReadIt() {
        put(share, 1, 4 * KILOBYTE - 64);
        var read = cache.find(share, request(1)).orElseThrow();
        put(share, 2, KILOBYTE);
        assertThat(cache.find(share, request(1))).isEmpty();
        assertThat(cache.find(share, request(2))).as("there was no room for it").isEmpty();
        assertThat(read.outputs().getFirst().bytes().get(ValueLayout.JAVA_BYTE, 4000))
                .isEqualTo((byte) 1);
        read.claim().close();
        put(share, 2, KILOBYTE);
        assertThat(get(share, 2)).hasValue(2);
    }

    @Test
    void shouldForgetADroppedShareForGood() {
        LocalCache.Share other = cache.share();
        put(share, 1, 100);
        put(other, 1, 100);
        cache.drop(share);
        assertThat(get(share, 1)).isEmpty();
        put(share, 1, 100);
        assertThat(get(share, 1)).as("put in by a request that was under way").isEmpty();
        assertThat(get(other, 1)).hasValue(1);
    }

    @Test
    void shouldNeverMixResponsesUpOrOverflowUnderManyThreads() throws Exception {
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            int seed = thread;
            tasks.add(() -> {
                int hits = 0;
                for (int i = 0; i < 5_000; i++) {
                    int request = 1 + (i * 7 + seed) % 11;
                    Optional<Integer> found = get(share, request);
                    if (found.isPresent()) {
                        assertThat(found).hasValue(request);
                        hits++;
                    } else {
                        put(share, request, 64 * request);
                    }
                }
                return hits;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(tasks.size())) {
            int hits = 0;
            for (Future<Integer> done : threads.invokeAll(tasks, 50, TimeUnit.SECONDS)) {
                hits += done.get();
            }
            assertThat(hits).isPositive();
            assertThat(cache.usedBytes()).isBetween(1L, cache.byteLimit());
        }
    }
}
