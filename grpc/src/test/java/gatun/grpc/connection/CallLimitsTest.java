// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that are too large are refused one by one. */
@Timeout(60)
class CallLimitsTest {
    @RegisterExtension
    final TestResources resources = new TestResources();

    private static StatusRuntimeException failure(Runnable call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::run);
    }

    @Test
    void shouldRefuseAMessageOverTheLimitAndKeepTheConnection() {
        TestServer server =
                resources.serve(TestServer.settings(1000, 100, 8192, 65_535, 65_535, 16_384), EchoService.definition());
        ManagedChannel channel = resources.channel(server);

        StatusRuntimeException failure = failure(() -> EchoService.echo(channel, new byte[5 << 20]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(failure.getStatus().getDescription()).contains("5242880").contains("1000");
        assertThat(EchoService.echo(channel, new byte[1000])).hasSize(1000);
    }

    @Test
    void shouldRefuseAMessageThatThePoolHasNoRoomForAndKeepTheConnection() {
        TestServer server = resources.add(TestServer.withPool(10_000, EchoService.definition()));
        ManagedChannel channel = resources.channel(server);

        StatusRuntimeException failure = failure(() -> EchoService.echo(channel, new byte[200_000]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(EchoService.echo(channel, new byte[5000])).hasSize(5000);
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldRefuseMetadataOverTheLimitAndKeepTheConnection() throws IOException {
        TestServer server =
                resources.serve(TestServer.settings(1000, 100, 4096, 65_535, 65_535, 16_384), EchoService.definition());
        assertThat(statusOf(server, "test-text", "x".repeat(5000))).isEqualTo("8");
        assertThat(statusOf(server, "test-text", "x".repeat(500))).isEqualTo("0");
    }

    /** The status of a raw call, since a polite client would not send so much. */
    private static String statusOf(TestServer server, String... fields) throws IOException {
        try (RawClient client = RawClient.connect(server)) {
            client.call(1, false, "Unary", fields);
            client.message(1, true, new byte[3]);
            String status = client.headers(1).get("grpc-status");
            // Where the call was answered, the first headers hold none and the trailers follow.
            return status == null ? client.headers(1).get("grpc-status") : status;
        }
    }
}
