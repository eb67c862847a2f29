// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A listener that serves HTTP/1.1 as well: it has read some bytes before it knows which protocol a client speaks. */
@Timeout(60)
class SharedListenerTest {
    @Test
    void shouldServeBothProtocolsOnOnePort() throws Exception {
        try (TestServer server = TestServer.besidesHttp(EchoService.definition())) {
            ManagedChannel channel = server.channel();
            try {
                assertThat(ClientCalls.blockingUnaryCall(
                                channel, EchoService.UNARY, CallOptions.DEFAULT, new byte[70_000]))
                        .hasSize(70_000);
                URI page = URI.create("http://127.0.0.1:" + server.port() + "/page");
                URLConnection http = page.toURL().openConnection();
                http.setReadTimeout(20_000);
                try (InputStream body = http.getInputStream()) {
                    assertThat(body.readAllBytes()).asString().isEqualTo("a page");
                }
            } finally {
                channel.shutdownNow();
            }
        }
    }

    @Test
    void shouldServeAConnectionWhoseChannelItDoesNotKnow() {
        try (TestServer server = TestServer.withoutChannels(EchoService.definition())) {
            ManagedChannel channel = server.channel();
            try {
                for (int size : new int[] {0, 100, 70_000, 5 << 20}) {
                    assertThat(ClientCalls.blockingUnaryCall(
                                    channel, EchoService.UNARY, CallOptions.DEFAULT, new byte[size]))
                            .hasSize(size);
                }
            } finally {
                channel.shutdownNow();
            }
        }
    }
}
