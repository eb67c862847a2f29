// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.Engine.RecentConcurrency;
import gatun.backend.onnxruntime.Engine.RecentConcurrency.ActiveRuns;
import org.junit.jupiter.api.Test;

class RecentConcurrencyTest {
    private final ActiveRuns runs = new ActiveRuns();
    private final RecentConcurrency company = new RecentConcurrency(runs);

    private boolean runAlone() {
        boolean alone = company.beginAlone();
        company.end();
        return alone;
    }

    @Test
    void shouldBeAloneWithoutOthers() {
        assertThat(runAlone()).isTrue();
        assertThat(runAlone()).isTrue();
    }

    @Test
    void shouldBeBesideRunsOfItsOwnModelAndOfOthers() {
        assertThat(company.beginAlone()).isTrue();
        assertThat(company.beginAlone()).isFalse();
        assertThat(new RecentConcurrency(runs).beginAlone()).isFalse();
    }

    @Test
    void shouldRememberCompanyForAWhile() {
        company.beginAlone();
        company.beginAlone();
        company.end();
        company.end();
        for (int i = 0; i < RecentConcurrency.MEMORY; i++) {
            assertThat(runAlone()).as("run %d", i).isFalse();
        }
        assertThat(runAlone()).isTrue();
    }

    @Test
    void shouldNoticeWhoCameDuringARun() {
        company.beginAlone();
        new RecentConcurrency(runs).beginAlone();
        company.end();
        assertThat(company.beginAlone()).isFalse();
    }

    @Test
    void shouldNotLetAnotherModelsCompanyOutlastIt() {
        RecentConcurrency other = new RecentConcurrency(runs);
        other.beginAlone();
        other.beginAlone();
        other.end();
        other.end();
        assertThat(runAlone()).isTrue();
    }
}
