// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections.ConnectionLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DescriptorLimitTest {
    private static final ConnectionLimits WANTED = new ConnectionLimits(16_384, 0, Duration.ofSeconds(10));

    @Test
    void shouldReadTheSoftLimit() {
        String limits = """
                Limit                     Soft Limit           Hard Limit           Units
                Max processes             1                    2                    processes
                Max open files            1024                 524288               files
                """;
        assertThat(DescriptorLimit.softLimit(limits)).isEqualTo(1024);
        assertThat(DescriptorLimit.softLimit("Max open files   unlimited   unlimited  files"))
                .isEqualTo(Long.MAX_VALUE);
        assertThat(DescriptorLimit.softLimit("")).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldLowerTheConnectionsToWhatThereAreDescriptorsFor() {
        assertThat(new DescriptorLimit(20_000, 100).fit(WANTED)).isEqualTo(WANTED);
        assertThat(new DescriptorLimit(Long.MAX_VALUE, 0).fit(WANTED)).isEqualTo(WANTED);
        assertThat(new DescriptorLimit(4096, 100).fit(WANTED).most()).isEqualTo(4096 - 100 - 512);
        assertThat(new DescriptorLimit(256, 56).fit(WANTED).most()).isEqualTo(100);
    }

    @Test
    void shouldKnowTheProcessItself() {
        DescriptorLimit own = DescriptorLimit.ofProcess();
        assertThat(own.used()).isPositive().isLessThan(own.most());
    }
}
