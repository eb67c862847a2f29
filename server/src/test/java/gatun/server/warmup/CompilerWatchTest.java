// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CompilerWatchTest {
    private final CompilerWatch watch = new CompilerWatch(Duration.ofMillis(500), 1000);

    @Test
    void shouldFindCompilersIdleThatHaveHadLittleToDoForThreeLooks() {
        assertThat(watch.isIdle(1025)).isFalse();
        assertThat(watch.isIdle(1025)).isFalse();
        assertThat(watch.isIdle(1050)).isTrue();
    }

    @Test
    void shouldBeginAnewWhenOneLookFindsThemAtWork() {
        assertThat(watch.isIdle(1000)).isFalse();
        assertThat(watch.isIdle(1000)).isFalse();
        assertThat(watch.isIdle(1026)).isFalse();
        assertThat(watch.isIdle(1026)).isFalse();
        assertThat(watch.isIdle(1026)).isFalse();
        assertThat(watch.isIdle(1026)).isTrue();
    }
}
