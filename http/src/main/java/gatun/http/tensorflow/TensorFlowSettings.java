// SPDX-License-Identifier: Apache-2.0
package gatun.http.tensorflow;

import java.time.Duration;
import java.util.Optional;

/**
 * What TensorFlow Serving's protocol over HTTP can be set to.
 *
 * @param anyOrigin whether a browser lets pages of any server read the answers
 * @param timeout how long a model may take for a request
 * @param methodNames whether signatures must call their methods as they are asked: classify or regress
 * @param monitoring TensorFlow Serving's metrics; empty where nothing is counted
 */
public record TensorFlowSettings(
        boolean anyOrigin, Duration timeout, boolean methodNames, Optional<Monitoring> monitoring) {
    /** Settings without metrics. */
    public TensorFlowSettings(boolean anyOrigin, Duration timeout) {
        this(anyOrigin, timeout, false, Optional.empty());
    }

    /** The same, with metrics. */
    public TensorFlowSettings with(Monitoring metrics) {
        return new TensorFlowSettings(anyOrigin, timeout, methodNames, Optional.of(metrics));
    }

    /** The same, with the names of methods looked at or not. */
    public TensorFlowSettings withMethodNames(boolean checked) {
        return new TensorFlowSettings(anyOrigin, timeout, checked, monitoring);
    }

    /** What TensorFlow Serving does by default: no other pages, and half a minute. */
    public static final TensorFlowSettings STANDARD = new TensorFlowSettings(false, Duration.ofSeconds(30));
}
