// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.ServerCall;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames that HTTP/2 forbids, and the codes that it wants them answered with. */
@Timeout(60)
class IllegalFramesTest {
    private static final ConnectionSettings SMALL = TestServer.settings(1 << 20, 3, 8192, 65_535, 65_535, 16_384);
    private static final int END_HEADERS = Http2.FLAG_END_HEADERS;
    private static final int WHOLE_REQUEST = Http2.FLAG_END_HEADERS | Http2.FLAG_END_STREAM;

    @RegisterExtension
    final TestResources resources = new TestResources();

    private static Arguments wrong(String name, Http2Error error, Consumer<RawClient> client) {
        return arguments(name, error, client);
    }

    private static Arguments wrongSetting(String name, Http2Error error, int setting, int value) {
        return wrong(name, error, c -> c.frame(Http2.SETTINGS, 0, 0, RawClient.setting(setting, value)));
    }

    static Stream<Arguments> endingTheConnection() {
        return Stream.of(onWrongStreams(), ofWrongSizes(), ofWrongContent(), outOfOrder())
                .flatMap(kind -> kind);
    }

    private static Stream<Arguments> onWrongStreams() {
        Http2Error protocol = Http2Error.PROTOCOL_ERROR;
        return Stream.of(
                wrong("DATA on the connection", protocol, c -> c.frame(Http2.DATA, 0, 0, new byte[3])),
                wrong("DATA on a stream that is not open", protocol, c -> c.frame(Http2.DATA, 0, 5, new byte[3])),
                wrong("HEADERS on the connection", protocol, c -> c.call(0, true, "Unary")),
                wrong("HEADERS on a stream of the server", protocol, c -> c.call(2, true, "Unary")),
                wrong("PRIORITY on the connection", protocol, c -> c.frame(Http2.PRIORITY, 0, 0, new byte[5])),
                wrong(
                        "RST_STREAM on the connection",
                        protocol,
                        c -> c.frame(Http2.RST_STREAM, 0, 0, RawClient.ints(8))),
                wrong(
                        "RST_STREAM on a stream that is not open",
                        protocol,
                        c -> c.frame(Http2.RST_STREAM, 0, 5, RawClient.ints(8))),
                wrong("SETTINGS on a stream", protocol, c -> c.frame(Http2.SETTINGS, 0, 1)),
                wrong("PING on a stream", protocol, c -> c.frame(Http2.PING, 0, 1, new byte[8])),
                wrong("GOAWAY on a stream", protocol, c -> c.frame(Http2.GOAWAY, 0, 1, new byte[8])),
                wrong("WINDOW_UPDATE on a stream that is not open", protocol, c -> c.windowUpdate(5, 1)),
                wrong("PUSH_PROMISE of a client", protocol, c -> c.frame(Http2.PUSH_PROMISE, 0, 1, new byte[10])));
    }

    private static Stream<Arguments> ofWrongSizes() {
        Http2Error size = Http2Error.FRAME_SIZE_ERROR;
        return Stream.of(
                wrong("a frame above the limit", size, c -> c.frame(0x42, 0, 0, new byte[16_385])),
                wrong("padded DATA without a length", size, c -> {
                    c.call(1, false, "Unary");
                    c.frame(Http2.DATA, Http2.FLAG_PADDED, 1);
                }),
                wrong(
                        "padded HEADERS without a length",
                        size,
                        c -> c.frame(Http2.HEADERS, END_HEADERS | Http2.FLAG_PADDED, 1)),
                wrong(
                        "HEADERS without their priority",
                        size,
                        c -> c.frame(Http2.HEADERS, END_HEADERS | Http2.FLAG_PRIORITY, 1, new byte[4])),
                wrong("PRIORITY of 4 bytes", size, c -> c.frame(Http2.PRIORITY, 0, 1, new byte[4])),
                wrong("RST_STREAM of 3 bytes", size, c -> {
                    c.call(1, false, "Unary");
                    c.frame(Http2.RST_STREAM, 0, 1, new byte[3]);
                }),
                wrong("SETTINGS of 7 bytes", size, c -> c.frame(Http2.SETTINGS, 0, 0, new byte[7])),
                wrong("acknowledged SETTINGS", size, c -> c.frame(Http2.SETTINGS, Http2.FLAG_ACK, 0, new byte[6])),
                wrong("PING of 7 bytes", size, c -> c.frame(Http2.PING, 0, 0, new byte[7])),
                wrong("GOAWAY of 7 bytes", size, c -> c.frame(Http2.GOAWAY, 0, 0, new byte[7])),
                wrong("WINDOW_UPDATE of 5 bytes", size, c -> c.frame(Http2.WINDOW_UPDATE, 0, 0, new byte[5])));
    }

    private static Stream<Arguments> ofWrongContent() {
        Http2Error protocol = Http2Error.PROTOCOL_ERROR;
        Http2Error window = Http2Error.FLOW_CONTROL_ERROR;
        return Stream.of(
                wrong("DATA with more padding than bytes", protocol, c -> {
                    c.call(1, false, "Unary");
                    c.frame(Http2.DATA, Http2.FLAG_PADDED, 1, (byte) 3, (byte) 0, (byte) 0);
                }),
                wrong(
                        "HEADERS with more padding than bytes",
                        protocol,
                        c -> c.frame(Http2.HEADERS, END_HEADERS | Http2.FLAG_PADDED, 1, (byte) 2, (byte) 0)),
                wrong("a window that does not grow", protocol, c -> c.windowUpdate(0, 0)),
                wrong("a window that grows too far", window, c -> c.windowUpdate(0, Integer.MAX_VALUE)),
                wrongSetting("push neither on nor off", protocol, Http2.SETTINGS_ENABLE_PUSH, 2),
                wrongSetting("an initial window too large", window, Http2.SETTINGS_INITIAL_WINDOW_SIZE, -1),
                wrongSetting("a largest frame too small", protocol, Http2.SETTINGS_MAX_FRAME_SIZE, 16_383),
                wrongSetting("a largest frame too large", protocol, Http2.SETTINGS_MAX_FRAME_SIZE, 1 << 24),
                wrong("settings that overflow the window of a stream", window, c -> {
                    c.call(1, false, "Unary");
                    c.windowUpdate(1, Integer.MAX_VALUE - Http2.DEFAULT_WINDOW_SIZE);
                    c.frame(
                            Http2.SETTINGS,
                            0,
                            0,
                            RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, Http2.DEFAULT_WINDOW_SIZE + 1));
                }),
                wrong(
                        "a header block that is none",
                        Http2Error.COMPRESSION_ERROR,
                        c -> c.frame(Http2.HEADERS, END_HEADERS, 1, (byte) 0xff, (byte) 0xff, (byte) 0x0f)));
    }

    private static Stream<Arguments> outOfOrder() {
        Http2Error protocol = Http2Error.PROTOCOL_ERROR;
        byte[] block = RawClient.callBlock("Unary");
        return Stream.of(
                wrong("CONTINUATION of nothing", protocol, c -> c.frame(Http2.CONTINUATION, END_HEADERS, 1, block)),
                wrong("CONTINUATION after the last", protocol, c -> {
                    c.call(1, false, "Unary");
                    c.frame(Http2.CONTINUATION, END_HEADERS, 1, block);
                }),
                wrong("CONTINUATION on another stream", protocol, c -> {
                    c.frame(Http2.HEADERS, 0, 1, block);
                    c.frame(Http2.CONTINUATION, END_HEADERS, 3, block);
                }),
                wrong("HEADERS within a header block", protocol, c -> {
                    c.frame(Http2.HEADERS, 0, 1, block);
                    c.frame(Http2.HEADERS, END_HEADERS, 3, block);
                }),
                wrong("an unknown frame within a header block", protocol, c -> {
                    c.frame(Http2.HEADERS, 0, 1, block);
                    c.frame(0x42, 0, 1);
                }));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("endingTheConnection")
    void shouldEndTheConnection(String name, Http2Error error, Consumer<RawClient> wrong) throws IOException {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient other = resources.connect(server);
        other.assertEchoes(1);
        RawClient client = resources.connect(server);

        wrong.accept(client);

        client.await(f -> f.isGoAway(error));
        client.awaitEnd();
        other.assertEchoes(3);
        server.awaitNothingLent();
    }

    private static Arguments wrongHeaders(String name, String... fields) {
        return wrong(
                name,
                Http2Error.PROTOCOL_ERROR,
                c -> c.frame(Http2.HEADERS, WHOLE_REQUEST, 1, RawClient.literals(fields)));
    }

    static Stream<Arguments> endingTheStream() {
        return Stream.of(
                wrongHeaders("no method", ":scheme", "http", ":path", "/a/b"),
                wrongHeaders("no path", ":method", "POST", ":scheme", "http"),
                wrongHeaders("an empty path", ":method", "POST", ":scheme", "http", ":path", ""),
                wrongHeaders("two paths", ":method", "POST", ":scheme", "http", ":path", "/a/b", ":path", "/a/c"),
                wrongHeaders("two methods", ":method", "POST", ":method", "POST", ":scheme", "http", ":path", "/a/b"),
                wrongHeaders("a status", ":status", "200", ":method", "POST", ":scheme", "http", ":path", "/a/b"),
                wrongHeaders(
                        "an unknown pseudo-header", ":method", "POST", ":scheme", "http", ":path", "/a/b", ":x", "1"),
                wrongHeaders("a late pseudo-header", ":method", "POST", ":scheme", "http", "a", "1", ":path", "/a/b"),
                wrongHeaders("capitals", ":method", "POST", ":scheme", "http", ":path", "/a/b", "Upper-Case", "1"),
                wrongHeaders(
                        "connection", ":method", "POST", ":scheme", "http", ":path", "/a/b", "connection", "close"),
                wrongHeaders("te", ":method", "POST", ":scheme", "http", ":path", "/a/b", "te", "gzip"),
                wrong("a window that does not grow", Http2Error.PROTOCOL_ERROR, c -> {
                    c.call(1, false, "Unary");
                    c.windowUpdate(1, 0);
                }),
                wrong("headers within a request", Http2Error.PROTOCOL_ERROR, c -> {
                    c.call(1, false, "Unary");
                    c.call(1, false, "Unary");
                }));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("endingTheStream")
    void shouldResetTheStreamAndServeTheNext(String name, Http2Error error, Consumer<RawClient> wrong)
            throws IOException {
        TestServer server = resources.serve(SMALL, EchoService.definition());
        RawClient client = resources.connect(server);

        wrong.accept(client);

        client.await(f -> f.isReset(1, error));
        client.assertEchoes(3);
        server.awaitNothingLent();
    }

    @ParameterizedTest
    @ValueSource(ints = {Http2.DATA, Http2.HEADERS})
    void shouldResetAStreamThatGoesOnAfterItsEnd(int type) throws IOException {
        TestServer server =
                resources.serve(EchoService.of(EchoService.BIDI, (call, headers) -> new ServerCall.Listener<>() {}));
        RawClient client = resources.connect(server);
        client.call(1, true, "Bidi");

        client.frame(type, WHOLE_REQUEST, 1, RawClient.literals("test-text", "more"));

        client.await(f -> f.isReset(1, Http2Error.STREAM_CLOSED));
        assertThat(client.isAlive()).isTrue();
    }
}
