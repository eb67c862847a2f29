// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Valid and invalid frames on a connection. */
@Timeout(60)
class FrameLevelTest {
    private static final ConnectionSettings SMALL = TestServer.settings(1 << 20, 3, 8192, 65_535, 65_535, 16_384);

    @RegisterExtension
    final TestResources resources = new TestResources();

    private RawClient connect() throws IOException {
        return resources.connect(resources.serve(SMALL, EchoService.definition()));
    }

    @Test
    void shouldUnderstandPseudoHeadersWithLiteralNames() throws IOException {
        connect().assertEchoes(1);
    }

    @Test
    void shouldPassOverUnknownSettings() throws IOException {
        RawClient client = connect();
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(0xfe03, 1));

        client.assertEchoes(1);
    }

    @Test
    void shouldPassOverUnknownFramesAndPriority() throws IOException {
        RawClient client = connect();
        client.frame(0x42, 0xff, 9, new byte[100]);
        client.frame(Http2.PRIORITY, 0, 3, new byte[5]);

        client.assertEchoes(1);
    }

    @Test
    void shouldAcknowledgeSettingsAndPings() throws IOException {
        RawClient client = connect();

        client.await(f -> f.type() == Http2.SETTINGS && f.flags() == Http2.FLAG_ACK);
        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void shouldPutTogetherAHeaderBlockOfSeveralFrames() throws IOException {
        RawClient client = connect();
        byte[] block = RawClient.callBlock("Unary", "test-text", "x".repeat(200));
        client.frame(Http2.HEADERS, 0, 1, Arrays.copyOf(block, 7));
        client.frame(Http2.CONTINUATION, 0, 1, Arrays.copyOfRange(block, 7, 30));
        client.frame(Http2.CONTINUATION, Http2.FLAG_END_HEADERS, 1, Arrays.copyOfRange(block, 30, block.length));
        client.message(1, true, (byte) 1);

        client.headers(1);
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("0");
    }

    @Test
    void shouldEndTheConnectionWhenAHeaderBlockIsInterrupted() throws IOException {
        RawClient client = connect();
        client.frame(Http2.HEADERS, 0, 1, RawClient.callBlock("Unary"));
        client.frame(Http2.PING, 0, 0, new byte[8]);

        client.await(f -> f.isGoAway(Http2Error.PROTOCOL_ERROR));
        client.awaitEnd();
    }

    @Test
    void shouldEndTheConnectionWhenAHeaderBlockNeverEnds() throws IOException {
        RawClient client = connect();
        client.frame(Http2.HEADERS, 0, 1, RawClient.callBlock("Unary"));
        for (int i = 0; i < 100; i++) {
            client.frame(Http2.CONTINUATION, 0, 1);
        }

        client.await(f -> f.isGoAway(Http2Error.ENHANCE_YOUR_CALM));
    }

    @Test
    void shouldEndTheConnectionWhenAHeaderBlockIsFarTooLarge() throws IOException {
        RawClient client = connect();
        client.frame(Http2.HEADERS, 0, 1, RawClient.callBlock("Unary", "test-text", "x".repeat(9000)));
        client.frame(Http2.CONTINUATION, 0, 1, RawClient.literals("test-text", "x".repeat(9000)));

        client.await(f -> f.isGoAway(Http2Error.ENHANCE_YOUR_CALM));
    }

    @Test
    void shouldTakeOffPaddingAndPriority() throws IOException {
        RawClient client = connect();
        byte[] block = RawClient.callBlock("Unary");
        ByteBuffer headers = ByteBuffer.allocate(1 + 5 + block.length + 3);
        headers.put((byte) 3).put(new byte[5]).put(block);
        client.frame(
                Http2.HEADERS, Http2.FLAG_END_HEADERS | Http2.FLAG_PADDED | Http2.FLAG_PRIORITY, 1, headers.array());
        byte[] message = RawClient.prefixed((byte) 9, (byte) 8);
        ByteBuffer data = ByteBuffer.allocate(1 + message.length + 200);
        data.put((byte) 200).put(message);
        client.frame(Http2.DATA, Http2.FLAG_PADDED | Http2.FLAG_END_STREAM, 1, data.array());

        client.headers(1);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload())
                .isEqualTo(ByteBuffer.wrap(RawClient.prefixed((byte) 9, (byte) 8)));
    }

    @Test
    void shouldPutTogetherAMessageOfManyFramesAndTakeSeveralFromOne() throws IOException {
        RawClient client = connect();
        client.call(1, false, "Join");
        for (byte b : RawClient.prefixed((byte) 1, (byte) 2)) {
            client.frame(Http2.DATA, 0, 1, b);
        }
        ByteBuffer two = ByteBuffer.allocate(12);
        two.put(RawClient.prefixed((byte) 3)).put(RawClient.prefixed()).put((byte) 0);
        client.frame(Http2.DATA, 0, 1, two.array());
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, RawClient.ints(0));

        client.headers(1);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload())
                .isEqualTo(ByteBuffer.wrap(RawClient.prefixed((byte) 1, (byte) 2, (byte) 3)));
    }

    @Test
    void shouldRefuseARequestThatEndsWithinAMessage() throws IOException {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 9, (byte) 1);

        assertThat(client.headers(1).get("grpc-status")).isEqualTo("3");
        server.awaitNothingLent();
        client.assertEchoes(3);
    }

    @Test
    void shouldGiveMemoryBackWhenTheClientLeavesWithinAMessage() throws IOException {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.frame(Http2.DATA, 0, 1, Arrays.copyOf(RawClient.prefixed(new byte[50_000]), 10_000));
        assertThat(client.isAlive()).isTrue();
        // Memory for the bytes that came, and not for those announced.
        assertThat(server.lentBytes()).isBetween(9_000L, 20_000L);

        client.close();

        server.awaitNothingLent();
    }

    @Test
    void shouldAnswerALargeMessageWhileItIsStillComing() throws IOException {
        RawClient client = connect();
        client.call(1, false, "Unary");
        client.frame(Http2.DATA, 0, 1, (byte) 0, (byte) 0x7f, (byte) 0, (byte) 0, (byte) 0, (byte) 1);

        HttpFields trailers = client.headers(1);
        assertThat(trailers.get("grpc-status")).isEqualTo("8");
        client.await(f -> f.isReset(1, Http2Error.NO_ERROR));
        client.frame(Http2.DATA, 0, 1, new byte[1000]);
        client.assertEchoes(3);
    }

    @Test
    void shouldPassOverLateFramesOfAFinishedStream() throws IOException {
        RawClient client = connect();
        client.assertEchoes(1);
        client.frame(Http2.RST_STREAM, 0, 1, RawClient.ints(Http2Error.CANCEL.code()));
        client.windowUpdate(1, 100);
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, new byte[10]);

        client.assertEchoes(3);
    }

    @Test
    void shouldHangUpOnAClientThatSpeaksSomethingElse() throws IOException {
        RawClient client = resources.add(RawClient.silent(resources.serve(SMALL, EchoService.definition())));
        client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));

        client.await(f -> f.isGoAway(Http2Error.PROTOCOL_ERROR));
        client.awaitEnd();
    }

    @Test
    void shouldAnswerWhatIsNotGrpcInHttp() throws IOException {
        RawClient client = connect();
        client.frame(
                Http2.HEADERS,
                Http2.FLAG_END_HEADERS | Http2.FLAG_END_STREAM,
                1,
                RawClient.literals(
                        ":method",
                        "POST",
                        ":scheme",
                        "http",
                        ":path",
                        "/test.Echo/Unary",
                        "content-type",
                        "text/html"));
        client.frame(
                Http2.HEADERS,
                Http2.FLAG_END_HEADERS | Http2.FLAG_END_STREAM,
                3,
                RawClient.literals(
                        ":method", "GET", ":scheme", "http", ":path", "/", "content-type", "application/grpc"));

        assertThat(client.headers(1).get("grpc-message")).contains("text/html");
        assertThat(client.headers(3).get("grpc-message")).contains("GET");
    }

    @Test
    void shouldRefuseBadTimeoutsAndUnknownEncodings() throws IOException {
        RawClient client = connect();
        client.call(1, true, "Unary", "grpc-timeout", "12x");
        client.call(3, true, "Unary", "grpc-encoding", "zip");

        assertThat(client.headers(1).get("grpc-status")).isEqualTo("3");
        HttpFields refused = client.headers(3);
        assertThat(refused.get("grpc-status")).isEqualTo("12");
        assertThat(refused.get("grpc-accept-encoding")).contains("gzip");
    }

    @Test
    void shouldAnswerAtTheDeadlineOfARequestThatNeverEnds() throws IOException {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary", "grpc-timeout", "200m");
        client.frame(Http2.DATA, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 9, (byte) 9, (byte) 9);

        assertThat(client.headers(1).get("grpc-status")).isEqualTo("4");
        client.await(f -> f.isReset(1, Http2Error.NO_ERROR));
        server.awaitNothingLent();
        client.assertEchoes(3);
    }

    @Test
    void shouldFinishRunningCallsWhenTheServerStops() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<ServerCall<byte[], byte[]>> started = new CompletableFuture<>();
        TestServer server = resources.serve(SMALL, EchoService.of(EchoService.UNARY, (call, headers) -> {
            call.request(2);
            return new ServerCall.Listener<>() {
                @Override
                public void onHalfClose() {
                    started.complete(call);
                    running.countDown();
                }
            };
        }));
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);
        assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();

        Thread stopping = Thread.ofVirtual().start(server::stop);
        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == Http2.LARGEST_STREAM_ID);
        RawClient.Frame ping = client.await(f -> f.type() == Http2.PING);
        client.frame(Http2.PING, Http2.FLAG_ACK, 0, ping.payload().array());
        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == 1);
        client.call(3, true, "Unary");
        client.await(f -> f.isReset(3, Http2Error.REFUSED_STREAM));
        ServerCall<byte[], byte[]> call = started.get(20, TimeUnit.SECONDS);
        call.sendHeaders(new Metadata());
        call.sendMessage(new byte[] {5});
        call.close(Status.OK, new Metadata());

        client.headers(1);
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("0");
        client.awaitEnd();
        client.close();
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> stopping.join());
    }

    @Test
    void shouldStopThoughAClientDoesNotAnswerPings() throws Exception {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);
        client.assertEchoes(1);

        Thread stopping = Thread.ofVirtual().start(server::stop);

        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == Http2.LARGEST_STREAM_ID);
        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == 1);
        client.awaitEnd();
        client.close();
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> stopping.join());
    }

    @Test
    void shouldServeACallWhoseHeadersCameInPartBeforeTheServerStopped() throws Exception {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);
        client.assertEchoes(1);
        byte[] block = RawClient.callBlock("Unary");
        client.frame(Http2.HEADERS, 0, 3, Arrays.copyOf(block, 7));

        Thread stopping = Thread.ofVirtual().start(server::stop);
        client.await(f -> f.isGoAway(Http2Error.NO_ERROR) && f.payloadInt(0) == 3);
        client.frame(Http2.CONTINUATION, Http2.FLAG_END_HEADERS, 3, Arrays.copyOfRange(block, 7, block.length));
        client.message(3, true, (byte) 1);

        client.headers(3);
        assertThat(client.headers(3).get("grpc-status")).isEqualTo("0");
        client.awaitEnd();
        client.close();
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> stopping.join());
    }
}
