// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.tensorflow;

import gatun.tensorflow.serving.ServingMetrics;
import java.util.Optional;

/**
 * What TensorFlow Serving's services can be set to.
 *
 * @param tensorContent whether Predict answers with tensor_content and not with the fields of the types
 * @param anyLabels whether a list of models may give new labels to versions that do not serve yet
 * @param methodNames whether signatures must call their methods as they are asked: classify or regress
 * @param metrics where requests are counted; empty for nowhere
 */
public record TensorFlowSettings(
        boolean tensorContent, boolean anyLabels, boolean methodNames, Optional<ServingMetrics> metrics) {
    /** What TensorFlow Serving does by default. */
    public static final TensorFlowSettings STANDARD = new TensorFlowSettings(false, false, false, Optional.empty());
}
