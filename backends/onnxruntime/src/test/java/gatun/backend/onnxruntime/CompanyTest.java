// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.Engine.Company;
import gatun.backend.onnxruntime.Engine.Company.ActiveRuns;
import org.junit.jupiter.api.Test;

class CompanyTest {
    private final ActiveRuns runs = new ActiveRuns();
    private final Company company = new Company(runs);

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
        assertThat(new Company(runs).beginAlone()).isFalse();
    }

    @Test
    void shouldRememberCompanyForAWhile() {
        company.beginAlone();
        company.beginAlone();
        company.end();
        company.end();
        for (int i = 0; i < Company.MEMORY; i++) {
            assertThat(runAlone()).as("run %d", i).isFalse();
        }
        assertThat(runAlone()).isTrue();
    }

    @Test
    void shouldNoticeWhoCameDuringARun() {
        company.beginAlone();
        new Company(runs).beginAlone();
        company.end();
        assertThat(company.beginAlone()).isFalse();
    }

    @Test
    void shouldNotLetAnotherModelsCompanyOutlastIt() {
        Company other = new Company(runs);
        other.beginAlone();
        other.beginAlone();
        other.end();
        other.end();
        assertThat(runAlone()).isTrue();
    }
}
