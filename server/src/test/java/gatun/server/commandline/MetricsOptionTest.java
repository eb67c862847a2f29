// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class MetricsOptionTest {
    private static LatencyMetrics settings(String... texts) {
        return MetricsOption.apply(
                Stream.of(texts).map(new MetricsOption.Reader()::convert).toList());
    }

    @Test
    void shouldChangeWhatIsNamedAndNothingElse() {
        List<Double> quantiles = LatencyMetrics.STANDARD.quantiles();
        assertThat(settings()).isEqualTo(LatencyMetrics.STANDARD);
        assertThat(settings("counter_latencies=false")).isEqualTo(new LatencyMetrics(false, false, false, quantiles));
        assertThat(settings("summary_latencies=true", "histogram_latencies=true"))
                .isEqualTo(new LatencyMetrics(true, true, true, quantiles));
        assertThat(settings("summary_quantiles=0.5:0.05,0.99").quantiles()).containsExactly(0.5, 0.99);
    }

    @Test
    void shouldRefuseWhatMeansNothing() {
        assertThatThrownBy(() -> settings("latencies=true"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'latencies=true' is not a setting of the metrics");
        assertThatThrownBy(() -> settings("summary_latencies=often"))
                .hasMessageContaining("'often' is not true or false");
        assertThatThrownBy(() -> settings("summary_quantiles=0.5,99"))
                .hasMessageContaining("'0.5,99' is not a list of quantiles from 0 to 1");
    }
}
