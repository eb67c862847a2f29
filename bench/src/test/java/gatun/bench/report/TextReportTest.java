// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextReportTest {
    @Test
    void shouldShowATableThatFitsATerminal() {
        String text = TextReport.text(ReportSamples.good());
        assertThat(text)
                .startsWith("transport           conc  infer/s     avg     p50    p90    p95    p99  p99.9     max "
                        + " errors  MB/s\n")
                .contains("http binary            1    10010  ");
        assertThat(text.lines()).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(120));
    }

    @Test
    void shouldShowTheServersTimesBesideTheClients() {
        assertThat(TextReport.text(ReportSamples.good()))
                .contains("server, per request  conc   queue   input  compute  output   total  elsewhere  batch")
                .contains("http binary             1  10.0µs  2.00µs   40.0µs  3.00µs  60.0µs")
                .contains("512B", "1.50KiB", "30.0µs");
    }

    @Test
    void shouldSayWhatWentWrong() {
        assertThat(TextReport.text(ReportSamples.bad()))
                .contains("The server tells of no statistics")
                .contains("Not stable after so many windows, the figures are of the last 3 at most: grpc, 250/s (3).")
                .contains("grpc, 250/s: at the end 17 requests were due that could not be sent")
                .contains("grpc, 250/s: 12 failed: " + ReportSamples.ODD_TEXT);
    }

    @Test
    void shouldShowWhereNothingWasAnswered() {
        assertThat(TextReport.text(ReportSamples.silent()))
                .contains("http binary, concurrency 1: 3 failed: gone")
                .doesNotContain("Not stable");
    }

    @Test
    void shouldWriteTimesAndSizesInFewDigits() {
        assertThat(Units.time(999.4)).isEqualTo("999ns");
        assertThat(Units.time(1_230)).isEqualTo("1.23µs");
        assertThat(Units.time(45_600_000)).isEqualTo("45.6ms");
        assertThat(Units.time(7.89e9)).isEqualTo("7.89s");
        assertThat(Units.roundTime(100_000)).isEqualTo("100µs");
        assertThat(Units.roundTime(1_000_000)).isEqualTo("1ms");
        assertThat(Units.roundTime(2_500_000)).isEqualTo("2.5ms");
        assertThat(Units.roundTime(0)).isEqualTo("0ns");
        assertThat(Units.bytes(1536)).isEqualTo("1.50KiB");
        assertThat(Units.bytes(64 * 1024 * 1024)).isEqualTo("64.0MiB");
        assertThat(Units.digits(99.97)).isEqualTo("100");
        assertThat(Units.digits(0)).isEqualTo("0");
    }
}
