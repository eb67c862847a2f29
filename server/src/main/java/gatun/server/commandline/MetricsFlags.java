// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.http.metrics.ShownMetrics;
import gatun.server.settings.ListenerSettings.MetricsSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The metrics listener. Filled by picocli, read once. */
final class MetricsFlags {
    @Option(
            names = "--allow-metrics",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether metrics are shown.")
    boolean allowed;

    @Option(
            names = "--metrics-address",
            paramLabel = "ADDRESS",
            description = "The address to listen on (default: that of --http-address).")
    Optional<String> address = Optional.empty();

    @Option(
            names = "--metrics-port",
            paramLabel = "PORT",
            defaultValue = "8002",
            converter = FlagValues.Port.class,
            description = "The port to listen on, 0 for any free port.")
    int port;

    @Option(
            names = "--metrics-config",
            paramLabel = "K=V",
            converter = MetricsOption.Reader.class,
            description =
                    "What the metrics show: counter_latencies, summary_latencies or histogram_latencies, each true or"
                            + " false, or summary_quantiles, such as 0.5,0.99; may be given several times.")
    List<MetricsOption> options = new ArrayList<>();

    @Option(
            names = "--allow-cpu-metrics",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether the metrics tell how busy the machine's processors and memory are.")
    boolean host;

    @Option(
            names = "--allow-gpu-metrics",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether the metrics tell how busy GPUs are, where there are any.")
    boolean gpus;

    @Option(
            names = "--metrics-interval-ms",
            paramLabel = "MILLIS",
            defaultValue = "2000",
            description = "How old what the metrics tell of processors and memory may be.")
    int intervalMillis;

    @Option(
            names = "--monitoring_config_file",
            paramLabel = "FILE",
            description = "Count what TensorFlow Serving counts, and show it on the HTTP ports as FILE says"
                    + " (MonitoringConfig in protobuf's text format).")
    Optional<Path> monitoringFile = Optional.empty();

    MetricsSettings settings(String httpAddress) {
        Optional<Duration> hostInterval = host ? Optional.of(Duration.ofMillis(intervalMillis)) : Optional.empty();
        return new MetricsSettings(
                allowed,
                address.orElse(httpAddress),
                port,
                new ShownMetrics(MetricsOption.apply(options), hostInterval),
                gpus);
    }
}
