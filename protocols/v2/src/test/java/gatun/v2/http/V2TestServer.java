// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.listener.ServerTls;
import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.TestServer.ProtocolMaker;
import gatun.protocol.testing.TestServerSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.v1.protocol.V1Protocol;
import gatun.v2.protocol.V2Protocol;
import io.helidon.webserver.http.HttpService;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/** The v2 protocol over HTTP on a real port. */
final class V2TestServer {
    /** The others beside it, as a server speaks them. */
    private static final List<ProtocolMaker> PROTOCOLS = List.of(
            V2Protocol::new,
            (server, settings) -> new TensorFlowProtocol(server, settings, TensorFlowSettings.STANDARD),
            V1Protocol::new);

    private V2TestServer() {}

    /** With the usual settings. */
    static ListenerUnderTest start(Path repository, HttpService... services) {
        return ListenerUnderTest.start(repository, TestServerSettings.usual(), PROTOCOLS, services);
    }

    /** With settings that {@code change} makes of the usual ones. */
    static ListenerUnderTest startWith(Path repository, UnaryOperator<TestServerSettings> change) {
        return ListenerUnderTest.start(repository, change.apply(TestServerSettings.usual()), PROTOCOLS);
    }

    /** Over TLS. */
    static ListenerUnderTest startOver(ServerTls tls, Path repository, UnaryOperator<TestServerSettings> change) {
        return ListenerUnderTest.startOver(tls, repository, change.apply(TestServerSettings.usual()), PROTOCOLS);
    }
}
