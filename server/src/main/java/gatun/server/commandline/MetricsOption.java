// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagType;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** One {@code --metrics-config}: changes one setting of the metrics. */
@FunctionalInterface
interface MetricsOption {
    /** The settings {@code before}, with this one changed. */
    LatencyMetrics changed(LatencyMetrics before);

    /** The standard settings, with all of {@code options} changed in their order. */
    static LatencyMetrics apply(List<MetricsOption> options) {
        LatencyMetrics settings = LatencyMetrics.STANDARD;
        for (MetricsOption option : options) {
            settings = option.changed(settings);
        }
        return settings;
    }

    /** Reads {@code setting=value}. */
    final class Reader implements ITypeConverter<MetricsOption> {
        @Override
        public MetricsOption convert(String text) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            String value = equals < 0 ? "" : text.substring(equals + 1);
            return switch (name) {
                case "counter_latencies" -> {
                    boolean shown = trueOrFalse(value);
                    yield m -> new LatencyMetrics(shown, m.summaries(), m.histograms(), m.quantiles());
                }
                case "summary_latencies" -> {
                    boolean shown = trueOrFalse(value);
                    yield m -> new LatencyMetrics(m.counters(), shown, m.histograms(), m.quantiles());
                }
                case "histogram_latencies" -> {
                    boolean shown = trueOrFalse(value);
                    yield m -> new LatencyMetrics(m.counters(), m.summaries(), shown, m.quantiles());
                }
                case "summary_quantiles" -> {
                    List<Double> quantiles = quantiles(value);
                    yield m -> new LatencyMetrics(m.counters(), m.summaries(), m.histograms(), quantiles);
                }
                default ->
                    throw new TypeConversionException("'" + text + "' is not a setting of the metrics:"
                            + " counter_latencies=BOOL, summary_latencies=BOOL, histogram_latencies=BOOL or"
                            + " summary_quantiles=Q,Q,...");
            };
        }

        private static boolean trueOrFalse(String value) {
            return FlagSpecs.read(FlagType.TRUE_FALSE, value);
        }

        /** As in Triton: separated by commas, each perhaps with an allowed error, which is always smaller here. */
        private static List<Double> quantiles(String value) {
            List<Double> quantiles = new ArrayList<>();
            for (String quantile : value.split(",", -1)) {
                int colon = quantile.indexOf(':');
                quantiles.add(quantile(colon < 0 ? quantile : quantile.substring(0, colon), value));
            }
            return quantiles;
        }

        private static double quantile(String text, String all) {
            try {
                double quantile = Double.parseDouble(text);
                if (quantile >= 0 && quantile <= 1) {
                    return quantile;
                }
            } catch (NumberFormatException e) {
                // Reported below, in the words of the flag.
            }
            throw new TypeConversionException(
                    "'" + all + "' is not a list of quantiles from 0 to 1, such as 0.5,0.99 or 0.5:0.05,0.99:0.001");
        }
    }
}
