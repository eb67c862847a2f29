// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.Distribution;
import gatun.bench.load.Load;
import gatun.bench.load.Measurement;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.ServerCounters.ServerTimes;
import gatun.bench.load.StoppingRule;
import gatun.bench.load.Window;
import gatun.bench.load.Window.ClientCost;
import gatun.bench.load.Window.Problems;
import gatun.bench.report.Report.Subject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;

/** Results of made-up measurements. */
final class ReportSamples {
    static final String ODD_TEXT = "model 'a<b' said \"no\" & more,\nlater";

    private ReportSamples() {}

    /** Two transports under two loads each, without failures. */
    static Report good() {
        return report(
                row("http binary", new Load.Concurrency(1), 200_000, Map.of(), true),
                row("http binary", new Load.Concurrency(4), 300_000, Map.of(), true),
                row("grpc stream sealed", new Load.Concurrency(1), 90_000, Map.of(), true),
                row("grpc stream sealed", new Load.Concurrency(4), 150_000, Map.of(), true));
    }

    /** An open loop with failures, on a server without statistics. */
    static Report bad() {
        return report(
                row("grpc", new Load.RequestRate(250, Distribution.POISSON), 200_000, Map.of(ODD_TEXT, 12L), false));
    }

    /** Loads of which no request was answered. */
    static Report silent() {
        Window nothing = new Window(
                1_000_000_000,
                new Histogram(3),
                new Problems(Map.of("gone", 3L), Map.of()),
                0,
                0,
                ClientCost.NONE,
                Optional.empty());
        return report(new Row(
                "http://localhost:8000",
                "http binary",
                1,
                new Measurement(
                        new Load.Concurrency(1), nothing, 1, StoppingRule.Verdict.UNSTABLE, nothing.problems(), 0)));
    }

    static Report report(Row... rows) {
        return new Report(
                new Subject("a<b", "1", "random"),
                Instant.parse("2026-01-02T03:04:05Z"),
                Map.of("java", "25 & newer"),
                OptionalDouble.empty(),
                false,
                List.of(rows));
    }

    static Row row(String transport, Load load, long medianNanos, Map<String, Long> failures, boolean statistics) {
        Histogram latencies = new Histogram(3);
        for (int i = 0; i < 1000; i++) {
            latencies.recordValueWithCount(medianNanos / 2 + medianNanos * i / 1000, 10);
        }
        latencies.recordValueWithCount(medianNanos * 20, 9);
        latencies.recordValue(medianNanos * 100);
        ServerCounters counters = new ServerCounters(
                10_010,
                5005,
                10_010,
                0,
                new ServerTimes(
                        10_010 * 60_000L, 10_010 * 10_000L, 10_010 * 2_000L, 10_010 * 40_000L, 10_010 * 3_000L));
        Window window = new Window(
                2_000_000_000,
                latencies,
                new Problems(failures, Map.of()),
                10_010 * 4096L,
                5_000_000,
                new ClientCost(10_010 * 512L, 10_010 * 1536L, 10_010 * 30_000L),
                statistics ? Optional.of(counters) : Optional.empty());
        return new Row(
                "http://localhost:8000",
                transport,
                2,
                new Measurement(
                        load,
                        window,
                        3,
                        statistics ? StoppingRule.Verdict.STABLE : StoppingRule.Verdict.UNSTABLE,
                        window.problems(),
                        statistics ? 0 : 17));
    }
}
