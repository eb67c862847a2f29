// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import gatun.testing.FreePorts;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When connections are used again, when calls are made again, and what ends a call. */
@Timeout(60)
class ConnectionsTest {
    private static final String OK = ScriptedServer.ok("{\"model_name\":\"m\",\"outputs\":[]}");
    private static final InferRequest REQUEST = InferRequest.to("m").build();
    private static final InferRequest OF_SEQUENCE =
            InferRequest.to("m").sequence(7, true, false).build();

    private static void infer(GatunClient client, InferRequest request) {
        try (InferResponse response = client.infer(request)) {
            assertThat(response.model()).isEqualTo("m");
        }
    }

    /** Answers one request on each connection and closes it, which it does not tell of. */
    private static ScriptedServer forgetful(CountDownLatch closed) {
        return ScriptedServer.start(conversation -> {
            conversation.read();
            conversation.say(OK);
            conversation.finish();
            closed.countDown();
            conversation.awaitEnd();
        });
    }

    @Test
    void shouldMakeACallAgainWhoseConnectionWasClosedMeanwhile() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (ScriptedServer server = forgetful(closed);
                GatunClient client = GatunClient.connect(server.options().withRetries(Retries.NONE))) {
            infer(client, REQUEST);
            closed.await();
            infer(client, REQUEST);
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    @Test
    void shouldLookAtAConnectionBeforeARequestOfASequence() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (ScriptedServer server = forgetful(closed);
                GatunClient client = GatunClient.connect(server.options().withRetries(Retries.NONE))) {
            infer(client, REQUEST);
            closed.await();
            infer(client, OF_SEQUENCE);
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    @Test
    void shouldNotMakeARequestOfASequenceAgainThatMayHaveArrived() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    while (conversation.read().isPresent()) {
                        if (requests.incrementAndGet() > 1) {
                            conversation.reset();
                            return;
                        }
                        conversation.say(OK);
                    }
                });
                GatunClient client = server.client()) {
            infer(client, REQUEST);
            UnreachableException broken =
                    catchThrowableOfType(UnreachableException.class, () -> client.infer(OF_SEQUENCE));
            assertThat(broken.mayHaveArrived()).isTrue();
            assertThat(requests).hasValue(2);
        }
    }

    @Test
    void shouldMakeOtherCallsAgainWhoseConnectionBreaks() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    if (requests.incrementAndGet() == 3) {
                        conversation.say(OK);
                    }
                });
                GatunClient client = GatunClient.connect(
                        server.options().withRetries(new Retries(3, Duration.ofMillis(1), Duration.ofMillis(1))))) {
            infer(client, REQUEST);
            assertThat(requests).hasValue(3);
        }
    }

    @Test
    void shouldMakeCallsAgainThatTheServerCannotAnswerNow() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
            while (conversation.read().isPresent()) {
                conversation.say(
                        requests.incrementAndGet() % 3 == 0
                                ? OK
                                : ScriptedServer.answer("503 Service Unavailable", "{\"error\":\"in a moment\"}"));
            }
        })) {
            ClientOptions options = server.options();
            try (GatunClient client = GatunClient.connect(
                    options.withRetries(new Retries(3, Duration.ofMillis(1), Duration.ofMillis(2))))) {
                infer(client, OF_SEQUENCE);
                assertThat(requests).hasValue(3);
                assertThat(server.connections()).isEqualTo(1);
            }
            try (GatunClient client = GatunClient.connect(options.withRetries(Retries.NONE))) {
                ServerException refused = catchThrowableOfType(ServerException.class, () -> client.infer(REQUEST));
                assertThat(refused).hasMessage("in a moment");
                assertThat(refused.code()).isEqualTo(StatusCode.UNAVAILABLE);
            }
        }
    }

    @Test
    void shouldSayThatAPortDoesNotSpeakHttp() throws Exception {
        byte[] settings = {0, 0, 0, 4, 0, 0, 0, 0, 0};
        try (ScriptedServer server = ScriptedServer.sayingOnce(settings);
                GatunClient client = GatunClient.connect(server.options().withRetries(Retries.NONE))) {
            assertThatThrownBy(() -> client.infer(REQUEST))
                    .isInstanceOf(UnreachableException.class)
                    .hasMessage("cannot ask " + server.url()
                            + ": what answers there does not speak HTTP/1.1: if it speaks gRPC, use "
                            + server.url().replace("http:", "grpc:"));
        }
    }

    @Test
    void shouldSayThatNobodyListens() throws Exception {
        try (Socket nobody = FreePorts.refusing();
                GatunClient client = GatunClient.connect(ClientOptions.of("http://localhost:" + nobody.getLocalPort())
                        .withRetries(Retries.NONE))) {
            UnreachableException refused =
                    catchThrowableOfType(UnreachableException.class, () -> client.infer(REQUEST));
            assertThat(refused)
                    .hasMessage("cannot connect to http://localhost:" + nobody.getLocalPort()
                            + ": Connection refused; is the server running there?");
            assertThat(refused.mayHaveArrived()).isFalse();
            assertThat(client.server().live()).isFalse();
            assertThat(client.server().ready()).isFalse();
        }
        try (GatunClient client = GatunClient.connect("unix:/nowhere/socket")) {
            assertThatThrownBy(() -> client.server().metadata())
                    .isInstanceOf(UnreachableException.class)
                    .hasMessageContaining("unix:/nowhere/socket");
        }
    }

    @Test
    void shouldUseOneConnectionForCallsOneAfterAnother() throws Exception {
        try (ScriptedServer server = ScriptedServer.saying(OK);
                GatunClient client = server.client()) {
            for (int call = 0; call < 20; call++) {
                infer(client, call % 2 == 0 ? REQUEST : OF_SEQUENCE);
            }
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotUseAConnectionOnWhichTheServerSaysMoreThanItsAnswer() throws Exception {
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    conversation.say(OK + OK);
                    conversation.awaitEnd();
                });
                GatunClient client = server.client()) {
            infer(client, REQUEST);
            infer(client, REQUEST);
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    @Test
    void shouldGiveUpAtTheDeadline() throws Exception {
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    conversation.say("HTTP/1.1 200 OK\r\n");
                    conversation.awaitEnd();
                });
                GatunClient client = server.client()) {
            for (int call = 0; call < 3; call++) {
                assertThatThrownBy(() -> client.infer(InferRequest.to("m")
                                .deadline(Duration.ofMillis(50))
                                .build()))
                        .isInstanceOf(DeadlineException.class)
                        .hasMessage("POST /v2/models/m/infer of " + server.url()
                                + " was not answered within the deadline of 50 ms;"
                                + " the server may still be at work on it");
            }
        }
    }

    @Test
    void shouldGiveUpAnEarlyDeadlineWhileALaterOneIsWatched() throws Exception {
        CountDownLatch longCallArrived = new CountDownLatch(1);
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    longCallArrived.countDown();
                    conversation.awaitEnd();
                });
                GatunClient client = server.client()) {
            CompletableFuture<InferResponse> longCall = client.inferAsync(
                    InferRequest.to("m").deadline(Duration.ofHours(1)).build());
            longCallArrived.await();
            assertThatThrownBy(() -> client.infer(
                            InferRequest.to("m").deadline(Duration.ofMillis(20)).build()))
                    .isInstanceOf(DeadlineException.class);
            assertThat(longCall).isNotDone();
        }
    }

    @Test
    void shouldSpendTheDeadlineOnAllAttemptsTogether() throws Exception {
        try (ScriptedServer server = ScriptedServer.saying(ScriptedServer.answer("503 Busy", ""));
                GatunClient client = GatunClient.connect(server.options()
                        .withRetries(new Retries(1_000_000, Duration.ofMillis(1), Duration.ofMillis(1)))
                        .withDeadline(Duration.ofMillis(100)))) {
            Throwable failure = catchThrowable(() -> client.infer(REQUEST));
            // By the server's word when the next pause were too long, or by the deadline in the midst of a call.
            assertThat(failure).isInstanceOfAny(ServerException.class, DeadlineException.class);
        }
    }

    @Test
    void shouldEndACallWhoseThreadIsInterrupted() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    arrived.countDown();
                    conversation.awaitEnd();
                });
                GatunClient client = server.client()) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                assertThatThrownBy(() -> client.infer(REQUEST))
                        .isInstanceOf(UnreachableException.class)
                        .hasMessageStartingWith("the thread was interrupted before ");
                interrupted.complete(Thread.currentThread().isInterrupted());
            });
            arrived.await();
            caller.interrupt();
            assertThat(interrupted.join()).isTrue();
        }
    }

    @Test
    void shouldCloseTheConnectionOfACallThatIsCancelled() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    arrived.countDown();
                    conversation.awaitEnd();
                    ended.countDown();
                });
                GatunClient client = server.client()) {
            CompletableFuture<InferResponse> call = client.inferAsync(REQUEST);
            arrived.await();
            assertThat(call.cancel(true)).isTrue();
            assertThat(call).isCancelled();
            assertThatThrownBy(call::join).isInstanceOf(CancellationException.class);
            ended.await();
        }
    }

    @Test
    void shouldEndCallsThatRunWhenTheClientIsClosed() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
            conversation.read();
            arrived.countDown();
            conversation.awaitEnd();
        })) {
            GatunClient client = server.client();
            CompletableFuture<InferResponse> call = client.inferAsync(REQUEST);
            arrived.await();
            client.close();
            client.close();
            assertThatThrownBy(call::join)
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the client of " + server.url() + " was closed while");
            assertThatThrownBy(() -> client.infer(REQUEST))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the client of " + server.url() + " was closed: make another one");
            assertThatThrownBy(() -> client.inferAsync(REQUEST)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> client.server().metadata()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> client.server().live()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldTellWhatAServerSaysThatReadsNoFurther() throws Exception {
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.readHead();
                    conversation.say(ScriptedServer.answer(
                            "413 Too Large", "{\"error\":\"at most 1 byte\"}", "Connection: close"));
                    conversation.finish();
                    conversation.awaitEnd();
                });
                GatunClient client = server.client()) {
            assertThatThrownBy(() -> client.infer("m", ArrayTensors.of("IN", new float[1 << 20])))
                    .isInstanceOf(ServerException.class)
                    .hasMessage("at most 1 byte");
        }
    }

    @Test
    @SuppressWarnings("NullAway") // it is never looked at
    void shouldRefuseStreams() throws IOException {
        try (ScriptedServer server = ScriptedServer.saying(OK);
                GatunClient client = server.client()) {
            assertThatThrownBy(() -> client.stream(null))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("grpc://");
        }
    }

    @Test
    void shouldNotReadAnErrorWithoutEnd() throws Exception {
        byte[] endless = new byte[1 << 20];
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    conversation.say("HTTP/1.1 500 Oops\r\nContent-Length: 9000000000000\r\n\r\nthe text");
                    while (true) {
                        conversation.say(endless);
                    }
                });
                GatunClient client = server.client()) {
            ServerException failure = catchThrowableOfType(ServerException.class, () -> client.infer(REQUEST));
            assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
            assertThat(failure).hasMessageStartingWith("the text");
        }
    }

    @Test
    void shouldNotReadMetadataWithoutEnd() throws Exception {
        byte[] endless = new byte[1 << 20];
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    conversation.say("HTTP/1.1 200 OK\r\n\r\n");
                    while (true) {
                        conversation.say(endless);
                    }
                });
                GatunClient client = server.client()) {
            assertThatThrownBy(() -> client.server().metadata())
                    .isInstanceOf(MalformedResponseException.class)
                    .hasMessageContaining("more than 67108864 bytes");
        }
    }
}
