// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.calls.GuardedCallHandler;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that mean harm: each is cut off with the right code, holds no memory, and disturbs no other connection. */
@Timeout(60)
class AbuseTest {
    private static final int FLOOD = 100_000;

    @RegisterExtension
    final TestResources resources = new TestResources();

    /** Lets one client do something again and again until it is told to go, while another is served. */
    private void assertCutOff(TestServer server, Http2Error error, RawClient attacker, IntConsumer attack)
            throws IOException {
        RawClient other = resources.connect(server);
        other.assertEchoes(1);
        CompletableFuture<RawClient.Frame> goAway = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                goAway.complete(attacker.await(f -> f.type() == Http2.GOAWAY));
            } catch (UncheckedIOException e) {
                goAway.completeExceptionally(e);
            }
        });
        try {
            for (int i = 0; i < FLOOD && !goAway.isDone(); i++) {
                attack.accept(i);
            }
        } catch (UncheckedIOException e) {
            assertThat(e).as("the server hung up").hasCauseInstanceOf(IOException.class);
        }

        RawClient.Frame frame = assertTimeoutPreemptively(Duration.ofSeconds(30), () -> goAway.get());
        assertThat(frame.isGoAway(error))
                .as("the code of the GOAWAY: %d", frame.payloadInt(4))
                .isTrue();
        other.assertEchoes(3);
        attacker.close();
        server.awaitNothingLent();
    }

    @Test
    void shouldCutOffAClientThatOpensAndResetsCallsWithoutEnd() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> {
            client.call(2 * i + 1, false, "Unary");
            client.frame(Http2.RST_STREAM, 0, 2 * i + 1, RawClient.ints(Http2Error.CANCEL.code()));
        });
    }

    @Test
    void shouldCutOffAClientThatSendsSettingsWithoutEnd() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);

        assertCutOff(
                server,
                Http2Error.ENHANCE_YOUR_CALM,
                client,
                i -> client.frame(
                        Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, 1000 + i)));
    }

    @Test
    void shouldCutOffAClientThatSendsEmptyFramesWithoutEnd() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> client.frame(Http2.DATA, 0, 1));
    }

    @Test
    void shouldCutOffAClientThatSendsUnknownFramesWithoutEnd() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> client.frame(0x42, 0, 0));
    }

    @Test
    void shouldCutOffAClientThatSendsEmptyContinuationsWithoutEnd() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);
        client.frame(Http2.HEADERS, 0, 1, RawClient.callBlock("Unary"));

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> client.frame(Http2.CONTINUATION, 0, 1));
    }

    @Test
    void shouldCountTheEntriesOfSettings() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);
        byte[] entries = new byte[6 * 2000];

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> {
            assertThat(i).as("SETTINGS of 2,000 entries that were taken").isLessThan(1000);
            client.frame(Http2.SETTINGS, 0, 0, entries);
        });
    }

    @Test
    void shouldCutOffAClientThatSendsItsMessagesByteByByte() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.frame(Http2.DATA, 0, 1, RawClient.ints(1 << 12));

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> client.frame(Http2.DATA, 0, 1, (byte) 0));
    }

    @Test
    void shouldCutOffAClientThatHasItsCallsResetByFramesThatMustNotBe() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);

        assertCutOff(server, Http2Error.ENHANCE_YOUR_CALM, client, i -> {
            client.call(2 * i + 1, false, "Unary");
            client.windowUpdate(2 * i + 1, 0);
        });
    }

    @Test
    void shouldTakeNoMemoryForTheMessagesOfACallThatItsHandlerRefusesByTheHeaders() throws IOException {
        TestServer server = resources.serve(EchoService.of(EchoService.UNARY, new GuardedCallHandler<byte[], byte[]>() {
            @Override
            public Optional<Status> refusal(Metadata headers) {
                return Optional.of(Status.UNAUTHENTICATED.withDescription("no token"));
            }

            @Override
            public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
                throw new AssertionError("the call began");
            }
        }));
        RawClient client = resources.connect(server);
        for (int id = 1; id < 8; id += 2) {
            client.call(id, false, "Unary");
            client.frame(
                    Http2.DATA,
                    0,
                    id,
                    ByteBuffer.allocate(5).putInt(1, 64 << 20).array());
            assertThat(client.headers(id).get("grpc-message")).isEqualTo("no token");
        }

        assertThat(client.isAlive()).isTrue();
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldServeAClientThatWasAskedToLeave() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);
        client.assertEchoes(1);

        server.askToLeave();

        RawClient.Frame goAway = client.await(f -> f.type() == Http2.GOAWAY);
        assertThat(goAway.isGoAway(Http2Error.NO_ERROR)).isTrue();
        assertThat(goAway.payloadInt(0)).as("the last stream that is served").isEqualTo(Http2.LARGEST_STREAM_ID);
        client.assertEchoes(3);
        resources.connect(server).assertEchoes(1);
    }

    @Test
    void shouldCutOffAClientThatOverflowsTheWindowOfItsConnection() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient client = resources.connect(server);

        assertCutOff(
                server,
                Http2Error.FLOW_CONTROL_ERROR,
                client,
                i -> client.windowUpdate(0, (int) Http2.LARGEST_WINDOW_SIZE));
    }

    @Test
    void shouldResetOnlyTheStreamWhoseWindowOverflows() throws IOException {
        RawClient client = resources.connect(resources.serve(EchoService.definition()));
        client.call(1, false, "Unary");
        client.windowUpdate(1, (int) Http2.LARGEST_WINDOW_SIZE);

        client.await(f -> f.isReset(1, Http2Error.FLOW_CONTROL_ERROR));
        client.assertEchoes(3);
    }

    @Test
    void shouldCutOffAClientThatReadsNothingAndSendsMoreThanItWasTold() throws IOException {
        TestServer server =
                resources.serve(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    answer.onNext(new byte[64 << 20]);
                    answer.onCompleted();
                })));
        RawClient other = resources.connect(server);
        RawClient client = resources.add(RawClient.silent(server));
        client.write(Http2.preface());
        int window = (int) Http2.LARGEST_WINDOW_SIZE;
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, window));
        client.windowUpdate(0, window - Http2.DEFAULT_WINDOW_SIZE);
        client.call(1, false, "Unary");
        client.message(1, true);
        client.call(3, false, "Nothing");
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();

        assertThatThrownBy(() -> {
                    while (System.nanoTime() < deadline) {
                        client.frame(Http2.DATA, 0, 3, new byte[1 << 20]);
                    }
                })
                .isInstanceOf(UncheckedIOException.class);
        assertThat(other.isAlive()).isTrue();
        server.awaitNothingLent();
    }

    @Test
    void shouldServeOthersBesideAClientWithManyStreamsThatReadsNothing() throws IOException {
        TestServer server = resources.serve(EchoService.definition());
        RawClient stalled = resources.connect(server);
        stalled.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, 0));
        for (int id = 1; id < 400; id += 2) {
            stalled.call(id, false, "Repeat");
            stalled.message(id, true, new byte[10_000]);
        }
        RawClient other = resources.connect(server);

        for (int id = 1; id < 40; id += 2) {
            other.assertEchoes(id);
        }
        stalled.close();
        server.awaitNothingLent();
    }
}
