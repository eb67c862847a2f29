// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import java.time.Duration;
import java.util.Optional;

/**
 * The settings of TensorFlow Serving's protocol.
 *
 * @param anyOrigin whether a browser lets pages of any server read responses
 * @param timeout how long a model may take for a request over HTTP
 * @param methodNames whether a signature's method must be the one that is called: classify or regress
 * @param tensorContent whether Predict answers with tensor_content over gRPC and not with the fields of the types
 * @param anyLabels whether a list of models may give new labels to versions that do not serve yet
 * @param profiler whether clients may have profiles over gRPC
 * @param monitoring TensorFlow Serving's metrics; empty where nothing is counted
 */
public record TensorFlowSettings(
        boolean anyOrigin,
        Duration timeout,
        boolean methodNames,
        boolean tensorContent,
        boolean anyLabels,
        boolean profiler,
        Optional<Monitoring> monitoring) {
    /** TensorFlow Serving's defaults: no pages of other servers, and a timeout of half a minute. */
    public static final TensorFlowSettings STANDARD =
            new TensorFlowSettings(false, Duration.ofSeconds(30), false, false, false, true, Optional.empty());

    /** The same, with metrics. */
    public TensorFlowSettings withMonitoring(Monitoring metrics) {
        return new TensorFlowSettings(
                anyOrigin, timeout, methodNames, tensorContent, anyLabels, profiler, Optional.of(metrics));
    }

    /** Where requests are counted; empty for nowhere. */
    public Optional<ServingMetrics> metrics() {
        return monitoring.map(Monitoring::metrics);
    }

    /** TensorFlow Serving's metrics, and the path where Prometheus finds them. */
    public record Monitoring(ServingMetrics metrics, String path) {}
}
