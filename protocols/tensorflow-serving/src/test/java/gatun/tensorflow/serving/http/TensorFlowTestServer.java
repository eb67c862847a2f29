// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.TestServerSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import java.nio.file.Path;
import java.util.List;

/** TensorFlow Serving's protocol over HTTP on a real port. */
final class TensorFlowTestServer {
    private TensorFlowTestServer() {}

    static ListenerUnderTest start(Path repository, TensorFlowSettings settings) {
        return ListenerUnderTest.start(
                repository,
                TestServerSettings.usual(),
                List.of((server, common) -> new TensorFlowProtocol(server, common, settings)));
    }
}
