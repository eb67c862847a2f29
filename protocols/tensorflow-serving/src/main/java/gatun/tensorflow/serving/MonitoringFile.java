// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.GatunException;
import gatun.wire.tensorflow.serving.MonitoringConfig;
import java.nio.file.Path;
import java.util.Optional;

/** TensorFlow Serving's file that says whether its metrics are shown, and on which path. */
public final class MonitoringFile {
    /** Where Prometheus finds the metrics unless the file says otherwise. */
    private static final String DEFAULT_PATH = "/monitoring/prometheus/metrics";

    private MonitoringFile() {}

    /** The path of the metrics; empty where off. Throws INVALID_ARGUMENT for a bad file, or a path that is none. */
    public static Optional<String> path(Path file) {
        MonitoringConfig.Builder config = MonitoringConfig.newBuilder();
        ServingFile.read(file, config);
        if (!config.getPrometheusConfig().getEnable()) {
            return Optional.empty();
        }
        String path = config.getPrometheusConfig().getPath();
        if (!path.isEmpty() && !path.startsWith("/")) {
            throw GatunException.invalidArgument(
                    "path of prometheus_config is '" + path + "'; expected one that begins with /");
        }
        return Optional.of(path.isEmpty() ? DEFAULT_PATH : path);
    }
}
