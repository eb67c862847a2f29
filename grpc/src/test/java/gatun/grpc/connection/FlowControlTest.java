// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Neither side sends more than the other has said it takes. */
@Timeout(60)
class FlowControlTest {
    private static final ConnectionSettings SMALL = TestServer.settings(1 << 20, 3, 8192, 65_535, 65_535, 16_384);

    /** Streams of 1024 bytes. */
    private static final ConnectionSettings NARROW = TestServer.settings(1 << 20, 3, 8192, 1024, 65_535, 16_384);

    @RegisterExtension
    final TestResources resources = new TestResources();

    @Test
    void shouldWaitForTheWindowsAndFollowTheirChanges() throws IOException {
        RawClient client = resources.add(RawClient.silent(resources.serve(SMALL, EchoService.definition())));
        client.write(Http2.preface());
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, 3));
        client.call(1, false, "Unary");
        client.message(1, true, new byte[20]);

        client.headers(1);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload().remaining())
                .isEqualTo(3);
        client.windowUpdate(1, 2);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload().remaining())
                .isEqualTo(2);
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, 9));
        assertThat(client.await(f -> f.type() == Http2.DATA).payload().remaining())
                .isEqualTo(6);
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, 1));
        client.windowUpdate(1, 10);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload().remaining())
                .isEqualTo(2);
        client.windowUpdate(1, 100);
        assertThat(client.await(f -> f.type() == Http2.DATA).payload().remaining())
                .isEqualTo(12);
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("0");
    }

    @Test
    void shouldResetAStreamWhoseClientExceedsItsWindow() throws IOException {
        RawClient client = resources.connect(resources.serve(NARROW, EchoService.definition()));
        client.call(1, false, "Bidi");
        client.frame(Http2.DATA, 0, 1, new byte[1100]);

        client.await(f -> f.isReset(1, Http2Error.FLOW_CONTROL_ERROR));
        client.assertEchoes(3);
    }

    @Test
    void shouldGiveTheWholeWindowOfAMessageLargerThanTheStreams() throws IOException {
        RawClient client = resources.connect(resources.serve(NARROW, EchoService.definition()));
        client.call(1, false, "Unary");
        byte[] bytes = RawClient.prefixed(new byte[10_000]);
        client.frame(Http2.DATA, 0, 1, Arrays.copyOf(bytes, 1000));
        RawClient.Frame update = client.await(f -> f.type() == Http2.WINDOW_UPDATE && f.streamId() == 1);
        assertThat(update.payloadInt(0)).isGreaterThanOrEqualTo(bytes.length - 1024);
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, Arrays.copyOfRange(bytes, 1000, bytes.length));

        client.headers(1);
        client.await(f -> f.type() == Http2.DATA);
        assertThat(client.headers(1).get("grpc-status")).isEqualTo("0");
    }

    /** The bytes that a client may still be sent, on one stream or on the connection. */
    private static final class Window {
        private long left = Http2.DEFAULT_WINDOW_SIZE;

        void take(int bytes) {
            left -= bytes;
            assertThat(left).as("what is left of a window").isNotNegative();
        }
    }

    /** Many calls share the window of the connection: threads that looked at it at once must not all take it. */
    @Test
    void shouldKeepToTheWindowsWhileManyStreamsSendAndReceive() throws Exception {
        int streams = 30;
        int messages = 40;
        byte[] message = new byte[3000];
        int sent = messages * RawClient.prefixed(message).length;
        RawClient client = resources.connect(resources.serve(
                TestServer.settings(1 << 20, streams, 8192, 1 << 20, 1 << 24, 16_384), EchoService.definition()));
        Thread sender = Thread.ofVirtual().start(() -> {
            for (int id = 1; id < 2 * streams; id += 2) {
                client.call(id, false, "Bidi");
            }
            for (int i = 0; i < messages; i++) {
                for (int id = 1; id < 2 * streams; id += 2) {
                    client.message(id, i == messages - 1, message);
                }
            }
        });
        Window connection = new Window();
        Map<Integer, Window> windows = new HashMap<>();
        Map<Integer, Integer> received = new HashMap<>();
        Random random = new Random(7);
        int ended = 0;

        while (ended < streams) {
            RawClient.Frame frame = client.read();
            int id = frame.streamId();
            if (frame.type() == Http2.DATA) {
                int length = frame.payload().remaining();
                received.merge(id, length, Integer::sum);
                Window stream = windows.computeIfAbsent(id, any -> new Window());
                connection.take(length);
                stream.take(length);
                // Only when there is nothing left, so that one byte too many is seen.
                if (connection.left == 0) {
                    grant(client, connection, 0, 1 + random.nextInt(20_000));
                }
                if (stream.left == 0) {
                    grant(client, stream, id, 1 + random.nextInt(60_000));
                }
            } else if (frame.type() == Http2.WINDOW_UPDATE) {
                assertThat(frame.payloadInt(0)).as("the increment of a window").isPositive();
            } else {
                assertThat(frame.type()).isNotIn(Http2.GOAWAY, Http2.RST_STREAM);
                ended += frame.type() == Http2.HEADERS && frame.endsStream() ? 1 : 0;
            }
        }
        assertThat(sender.join(Duration.ofSeconds(20))).isTrue();
        assertThat(received).hasSize(streams).allSatisfy((id, bytes) -> assertThat(bytes)
                .isEqualTo(sent));
    }

    private static void grant(RawClient client, Window window, int id, int bytes) {
        window.left += bytes;
        client.windowUpdate(id, bytes);
    }
}
