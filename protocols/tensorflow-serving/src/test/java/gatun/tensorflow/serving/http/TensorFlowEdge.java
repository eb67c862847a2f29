// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.testing.edges.EdgeSettings;
import gatun.testing.edges.EdgeUnderTest;
import java.nio.file.Path;
import java.util.List;

/** TensorFlow Serving's protocol over HTTP on a real port. */
final class TensorFlowEdge {
    private TensorFlowEdge() {}

    static EdgeUnderTest start(Path repository, TensorFlowSettings settings) {
        return EdgeUnderTest.start(
                repository,
                EdgeSettings.usual(),
                List.of((server, common) -> new TensorFlowProtocol(server, common, settings)));
    }
}
