// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.runtime.metrics.ShownMetrics;
import gatun.server.settings.ListenerSettings.MetricsSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The metrics listener. Read once. */
final class MetricsFlags extends OverlayFlags<MetricsSettings> {
    private final Flag<Boolean> enabled = yesOrNo("--allow-metrics", standard.enabled(), "Whether metrics are shown.");
    private final Flag<Optional<String>> address = optional(
            "--metrics-address",
            FlagType.TEXT.labelled("ADDRESS"),
            "The address to listen on (default: that of --http-address).");
    private final Flag<Integer> port =
            flag("--metrics-port", FlagType.PORT, standard.port(), "The port to listen on, 0 for any free port.");
    private final Flag<List<MetricsOption>> options = several(
            "--metrics-config",
            FlagType.of("K=V", new MetricsOption.Reader()::convert),
            "What the metrics show: counter_latencies, summary_latencies or histogram_latencies, each true or"
                    + " false, or summary_quantiles, such as 0.5,0.99; may be given several times.");
    private final Flag<Boolean> host = yesOrNo(
            "--allow-cpu-metrics",
            standard.shown().hostInterval().isPresent(),
            "Whether the metrics tell how busy the machine's processors and memory are.");
    private final Flag<Boolean> gpus = yesOrNo(
            "--allow-gpu-metrics", standard.gpus(), "Whether the metrics tell how busy GPUs are, where there are any.");
    private final Flag<Duration> hostInterval = flag(
            "--metrics-interval-ms",
            FlagType.ANY_MILLISECONDS,
            standard.shown().hostInterval().orElse(Duration.ZERO),
            "How old what the metrics tell of processors and memory may be.");

    MetricsFlags(MetricsSettings standard) {
        super(standard);
    }

    MetricsSettings settings() {
        return new MetricsSettings(
                enabled.value(),
                address.value(),
                port.value(),
                new ShownMetrics(
                        MetricsOption.apply(options.value()),
                        host.value() ? Optional.of(hostInterval.value()) : Optional.empty()),
                gpus.value());
    }
}
