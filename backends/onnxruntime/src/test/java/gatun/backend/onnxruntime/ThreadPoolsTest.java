// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ThreadPoolsTest {
    @Test
    void shouldGiveTheFirstSessionsPoolsOfTheirOwn() {
        ThreadPools pools = new ThreadPools(Optional.empty());
        assertThat(IntStream.range(0, ThreadPools.MOST_OWN)).allMatch(i -> pools.takeOwn(false));
        assertThat(pools.takeOwn(false)).isFalse();
        assertThat(pools.takeOwn(true))
                .as("of a model that says how many threads")
                .isTrue();
        pools.giveBackOwn();
        pools.giveBackOwn();
        assertThat(pools.takeOwn(false)).isTrue();
        assertThat(pools.takeOwn(false)).isFalse();
    }

    @Test
    void shouldDoWhatItIsTold() {
        assertThat(new ThreadPools(Optional.of(true)).takeOwn(true)).isFalse();
        ThreadPools pools = new ThreadPools(Optional.of(false));
        assertThat(IntStream.range(0, 2 * ThreadPools.MOST_OWN)).allMatch(i -> pools.takeOwn(false));
    }
}
