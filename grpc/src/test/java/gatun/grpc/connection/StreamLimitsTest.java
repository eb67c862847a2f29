// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many calls a client may have running, and how often it may call them off. */
@Timeout(60)
class StreamLimitsTest {
    private static final ConnectionSettings SMALL = TestServer.settings(1 << 20, 3, 8192, 65_535, 65_535, 16_384);

    @RegisterExtension
    final TestResources resources = new TestResources();

    /** A service whose calls hang until the client cancels them. */
    private static ServerServiceDefinition hanging() {
        return EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {}));
    }

    @Test
    void shouldRefuseStreamsOverTheLimitAndServeThemLater() throws Exception {
        RawClient client = resources.connect(resources.serve(SMALL, hanging()));
        for (int id = 1; id <= 7; id += 2) {
            client.call(id, false, "Unary");
            client.message(id, true);
        }

        client.await(f -> f.isReset(7, Http2Error.REFUSED_STREAM));
        client.frame(Http2.RST_STREAM, 0, 1, RawClient.ints(Http2Error.CANCEL.code()));
        assertThat(client.isAlive()).isTrue();
        awaitAccepted(client, 9);
    }

    /** Opens calls until one is not refused: the slot is free when the cancelled handler has heard. */
    private static void awaitAccepted(RawClient client, int firstId) {
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            for (int id = firstId; ; id += 2) {
                client.call(id, false, "Nothing");
                RawClient.Frame answer = client.await(f -> f.type() == Http2.HEADERS || f.type() == Http2.RST_STREAM);
                if (answer.type() == Http2.HEADERS) {
                    return;
                }
            }
        });
    }

    @Test
    void shouldCountACancelledCallUntilItsHandlerIsDone() throws Exception {
        CountDownLatch running = new CountDownLatch(3);
        CountDownLatch release = new CountDownLatch(1);
        RawClient client = resources.connect(resources.serve(
                SMALL, EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    running.countDown();
                    try {
                        assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }))));
        for (int id = 1; id <= 5; id += 2) {
            client.call(id, false, "Unary");
            client.message(id, true);
        }
        assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
        for (int id = 1; id <= 5; id += 2) {
            client.frame(Http2.RST_STREAM, 0, id, RawClient.ints(Http2Error.CANCEL.code()));
        }
        client.call(7, true, "Unary");

        client.await(f -> f.isReset(7, Http2Error.REFUSED_STREAM));
        release.countDown();
        awaitAccepted(client, 9);
    }

    @Test
    void shouldNotCountOrdinaryCancellationsAsAnAttack() throws IOException {
        RawClient client = resources.connect(resources.serve(SMALL, hanging()));
        for (int i = 0; i < 2000; i++) {
            client.call(2 * i + 1, false, "Unary");
            client.frame(Http2.RST_STREAM, 0, 2 * i + 1, RawClient.ints(Http2Error.CANCEL.code()));
        }

        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void shouldCutOffAClientThatFloodsWithPings() throws IOException {
        RawClient client = resources.connect(resources.serve(SMALL, EchoService.definition()));
        CompletableFuture<RawClient.Frame> goAway = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> goAway.complete(client.await(f -> f.type() == Http2.GOAWAY)));
        byte[] pings = new byte[17 * 1000];
        for (int i = 0; i < 1000; i++) {
            ByteBuffer.wrap(pings).putInt(17 * i, 8 << 8 | Http2.PING);
        }
        try {
            for (int i = 0; i < 10_000 && !goAway.isDone(); i++) {
                client.write(pings);
            }
        } catch (java.io.UncheckedIOException e) {
            assertThat(e).as("the server hung up").hasCauseInstanceOf(IOException.class);
        }

        RawClient.Frame frame = assertTimeoutPreemptively(Duration.ofSeconds(20), () -> goAway.get());
        assertThat(frame.isGoAway(Http2Error.ENHANCE_YOUR_CALM)).isTrue();
    }
}
