// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class OutputLimitTest {
    private static final int LINE = 1000;
    private static final int COST = LINE + OutputLimit.LINE_OVERHEAD;

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> reports = new ArrayList<>();
    private final OutputLimit limit = new OutputLimit(nanos::get, reports::add);

    private int allowed(int lines) {
        int allowed = 0;
        for (int i = 0; i < lines; i++) {
            allowed += limit.allows(LINE) ? 1 : 0;
        }
        return allowed;
    }

    @Test
    void shouldAllowABurstAndCountWhatFollows() {
        int burst = (int) (OutputLimit.BURST_BYTES / COST);
        assertThat(allowed(burst + 50)).isEqualTo(burst);
        assertThat(reports).isEmpty();
        limit.finish();
        assertThat(reports)
                .containsExactly("50 lines of 50000 characters were left out, since a process may print 65536 bytes a"
                        + " second in the long run");
        limit.finish();
        assertThat(reports).as("nothing was left out since").hasSize(1);
    }

    @Test
    void shouldReportOnceWhenLinesAreWrittenAgain() {
        int burst = (int) (OutputLimit.BURST_BYTES / COST);
        assertThat(allowed(burst + 10)).isEqualTo(burst);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
        assertThat(allowed(1)).as("too little is saved up").isZero();
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertThat(allowed(1)).isEqualTo(1);
        assertThat(reports).hasSize(1).first().asString().startsWith("11 lines of 11000 characters were left out");
    }

    @Test
    void shouldAllowNoMoreThanItsRateInTheLongRun() {
        long written = 0;
        for (int second = 0; second < 1000; second++) {
            written += (long) COST * allowed(1000);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        }
        assertThat(written)
                .isLessThanOrEqualTo(OutputLimit.BURST_BYTES + 1000 * OutputLimit.BYTES_PER_SECOND)
                .isGreaterThan(900 * OutputLimit.BYTES_PER_SECOND);
        assertThat(reports).hasSizeLessThanOrEqualTo(100);
    }

    @Test
    void shouldCountEmptyLines() {
        int allowed = 0;
        while (limit.allows(0)) {
            allowed++;
        }
        assertThat(allowed).isEqualTo((int) (OutputLimit.BURST_BYTES / OutputLimit.LINE_OVERHEAD));
    }
}
