// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.Age;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.ClientPings;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.Pings;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** PINGs in both directions, and connections that end by the clock. */
@Timeout(60)
class KeepaliveTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    /** How long a connection may live: its client has sent a call by then, on a busy machine too. */
    private static final Duration SOON = Duration.ofMillis(500);

    private static final Duration ANSWER = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofHours(1);
    private static final Pings RARE_PINGS = new Pings(LONG, LONG, 2);
    private static final ClientPings CLIENT_PINGS = new ClientPings(LONG, 2);

    @RegisterExtension
    final TestResources resources = new TestResources();

    private static KeepaliveSettings pinging(boolean withoutCalls) {
        return new KeepaliveSettings(new Pings(SHORT, SHORT, 2), CLIENT_PINGS, withoutCalls, Age.ANY, LONG);
    }

    /** For clients that answer, but not always at once. */
    private static KeepaliveSettings patientlyPinging(int pingsWithoutData) {
        return new KeepaliveSettings(new Pings(SHORT, ANSWER, pingsWithoutData), CLIENT_PINGS, false, Age.ANY, LONG);
    }

    private static KeepaliveSettings aging(Optional<Duration> grace) {
        return new KeepaliveSettings(RARE_PINGS, CLIENT_PINGS, false, new Age(Optional.of(SOON), grace), LONG);
    }

    private static KeepaliveSettings patience(Duration patience) {
        return new KeepaliveSettings(RARE_PINGS, CLIENT_PINGS, false, Age.ANY, patience);
    }

    private RawClient connect(KeepaliveSettings settings, ServerServiceDefinition service) throws IOException {
        return resources.connect(resources.serve(TestServer.settings(settings), service));
    }

    /** A service whose calls end when they are told to. */
    private static ServerServiceDefinition waiting(CompletableFuture<ServerCall<byte[], byte[]>> call) {
        return EchoService.of(EchoService.UNARY, (started, headers) -> {
            started.request(2);
            return new ServerCall.Listener<>() {
                @Override
                public void onHalfClose() {
                    call.complete(started);
                }
            };
        });
    }

    private static boolean isQuestion(RawClient.Frame frame) {
        return frame.type() == Http2.PING && (frame.flags() & Http2.FLAG_ACK) == 0;
    }

    @Test
    void shouldEndTheConnectionOfAClientThatDoesNotAnswerPings() throws Exception {
        CompletableFuture<Status> end = new CompletableFuture<>();
        RawClient client = connect(
                pinging(false), EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    Context.current()
                            .addListener(
                                    context -> end.complete(Status.fromThrowable(context.cancellationCause())),
                                    Runnable::run);
                })));
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        client.await(KeepaliveTest::isQuestion);
        client.awaitEnd();
        assertThat(end.get(20, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
    }

    @Test
    void shouldKeepTheConnectionOfAClientThatAnswersPings() throws Exception {
        CompletableFuture<ServerCall<byte[], byte[]>> running = new CompletableFuture<>();
        RawClient client = connect(patientlyPinging(0), waiting(running));
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        for (int i = 0; i < 4; i++) {
            RawClient.Frame question = client.await(KeepaliveTest::isQuestion);
            client.frame(Http2.PING, Http2.FLAG_ACK, 0, question.payload().array());
        }
        ServerCall<byte[], byte[]> call = running.get(20, TimeUnit.SECONDS);
        call.close(Status.ABORTED, new Metadata());
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("10");
    }

    @Test
    void shouldNotSendMorePingsWithoutDataThanAllowed() throws Exception {
        CompletableFuture<ServerCall<byte[], byte[]>> running = new CompletableFuture<>();
        RawClient client = connect(patientlyPinging(2), waiting(running));
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);
        for (int i = 0; i < 2; i++) {
            RawClient.Frame question = client.await(KeepaliveTest::isQuestion);
            client.frame(Http2.PING, Http2.FLAG_ACK, 0, question.payload().array());
        }

        assertThat(client.isSilentFor(ANSWER.multipliedBy(2))).isTrue();
    }

    @Test
    void shouldPingAClientWithoutCallsOnlyWhereThatIsPermitted() throws Exception {
        RawClient silent = connect(pinging(false), EchoService.definition());
        silent.assertEchoes(1);
        RawClient asked = connect(pinging(true), EchoService.definition());

        asked.await(KeepaliveTest::isQuestion);
        asked.awaitEnd();
        silent.assertEchoes(3);
    }

    @Test
    void shouldEndTheConnectionOfAClientThatPingsTooOften() throws Exception {
        RawClient client = connect(KeepaliveSettings.standard(), EchoService.definition());
        client.assertEchoes(1);
        for (int i = 0; i < 4; i++) {
            client.frame(Http2.PING, 0, 0, RawClient.ints(0, i));
        }

        RawClient.Frame end = client.await(f -> f.isGoAway(Http2Error.ENHANCE_YOUR_CALM));
        byte[] text = Arrays.copyOfRange(end.payload().array(), 8, end.payload().capacity());
        assertThat(new String(text, StandardCharsets.UTF_8)).isEqualTo("too_many_pings");
        client.awaitEnd();
    }

    @Test
    void shouldLetAClientMeasureItsConnectionWhileAnswersCome() throws Exception {
        RawClient client = connect(KeepaliveSettings.standard(), EchoService.definition());

        for (int i = 0; i < 20; i++) {
            client.assertEchoes(2 * i + 1);
            assertThat(client.isAlive()).isTrue();
        }
    }

    @Test
    void shouldLetCallsEndOnAConnectionThatIsTooOld() throws Exception {
        CompletableFuture<ServerCall<byte[], byte[]>> running = new CompletableFuture<>();
        RawClient client = connect(aging(Optional.empty()), waiting(running));
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == Http2.LARGEST_STREAM_ID);
        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == 1);
        running.get(20, TimeUnit.SECONDS).close(Status.ABORTED, new Metadata());
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("10");
        client.awaitEnd();
    }

    @Test
    void shouldEndCallsThatTakeLongerThanAnOldConnectionsGrace() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        RawClient client = connect(
                aging(Optional.of(SHORT)),
                EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> Context.current()
                        .addListener(context -> cancelled.countDown(), Runnable::run))));
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        client.awaitEnd();
        assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldEndAConnectionThatHasHadNoCallsForLong() throws Exception {
        CompletableFuture<ServerCall<byte[], byte[]>> running = new CompletableFuture<>();
        TestServer server = resources.add(TestServer.closingIdleAfter(SOON, waiting(running)));
        RawClient busy = resources.connect(server);
        busy.call(1, false, "Unary");
        busy.message(1, true, (byte) 1);
        running.get(20, TimeUnit.SECONDS);
        RawClient idle = resources.connect(server);

        idle.awaitEnd();
        assertThat(busy.isAlive()).isTrue();
        running.get().close(Status.ABORTED, new Metadata());
        assertThat(busy.headers(1).get("grpc-status")).isEqualTo("10");
        busy.awaitEnd();
    }

    @Test
    void shouldHangUpOnAClientThatDoesNotGreet() throws Exception {
        TestServer server = resources.serve(TestServer.settings(patience(SHORT)), EchoService.definition());
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(Arrays.copyOf(Http2.preface(), 10));

            assertTimeoutPreemptively(
                    Duration.ofSeconds(20),
                    () -> assertThat(socket.getInputStream().readAllBytes()).isNotNull());
        }
    }

    @Test
    void shouldHangUpOnAClientWhoseHeadersDoNotCome() throws Exception {
        TestServer server =
                resources.serve(TestServer.settings(patience(Duration.ofMillis(300))), EchoService.definition());
        RawClient slow = resources.connect(server);
        RawClient other = resources.connect(server);
        slow.assertEchoes(1);
        slow.frame(Http2.HEADERS, 0, 3, RawClient.callBlock("Unary"));

        slow.awaitEnd();
        other.assertEchoes(1);
    }

    @Test
    void shouldTakeItsTimeForMessagesThatComeSlowly() throws Exception {
        RawClient client = connect(patience(SHORT), EchoService.definition());
        client.call(1, false, "Unary");
        client.frame(Http2.DATA, 0, 1, (byte) 0, (byte) 0, (byte) 0);
        assertThat(client.isAlive()).isTrue();
        assertThat(client.isSilentFor(Duration.ofMillis(200))).isTrue();
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, (byte) 0, (byte) 1, (byte) 7);

        client.headers(1);
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("0");
    }
}
