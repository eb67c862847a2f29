// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.CacheStatistics;
import gatun.runtime.Origin;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DashboardTest {
    private static final Path DASHBOARD = Path.of("../docs/grafana-dashboard.json");
    private static final Pattern METRIC = Pattern.compile("\\b(?:nv|gatun)_[a-z_]*[a-z]\\b");

    @Test
    void shouldAskForNothingThatTheMetricsDoNotHave() throws IOException {
        Set<String> asked = METRIC.matcher(Files.readString(DASHBOARD))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        StageLatencies stages = new StageLatencies(
                Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE);
        ShownMetrics everything =
                new ShownMetrics(new LatencyMetrics(true, true, true, List.of()), Optional.of(Duration.ZERO));
        ModelStatistics statistics = new ModelStatistics(
                "m",
                "1",
                new ModelStatistics.Totals(
                        1,
                        1,
                        new ModelStatistics.Failures(0, 0, 0, 0, 0),
                        new ModelStatistics.StageNanos(1, 1, 1, 1, 1),
                        1,
                        ModelStatistics.Occupancy.NONE,
                        1),
                List.of(),
                List.of(),
                List.of(),
                Optional.of(CacheStatistics.NONE));
        ModelLatencies latencies = new ModelLatencies(
                "m", "1", false, Map.of(new Origin(1, "v2", "grpc"), stages), Optional.empty(), Map.of());
        try (CountedServer server = new CountedServer(statistics).withLatencies(latencies)) {
            MetricsPage page =
                    new MetricsPage(server, everything, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD));
            Set<String> shown = PageText.of(page, "")
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("[ {]", 2)[0])
                    .collect(Collectors.toSet());

            assertThat(asked).hasSizeGreaterThan(15).isSubsetOf(shown);
        }
    }
}
