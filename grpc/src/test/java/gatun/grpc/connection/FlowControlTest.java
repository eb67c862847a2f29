package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
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
    final Opened opened = new Opened();

    @Test
    void shouldWaitForTheWindowsAndFollowTheirChanges() throws IOException {
        RawClient client = opened.add(RawClient.silent(opened.serve(SMALL, EchoService.definition())));
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
        RawClient client = opened.connect(opened.serve(NARROW, EchoService.definition()));
        client.call(1, false, "Bidi");
        client.frame(Http2.DATA, 0, 1, new byte[1100]);

        client.await(f -> f.isReset(1, Http2Error.FLOW_CONTROL_ERROR));
        client.assertEchoes(3);
    }

    @Test
    void shouldGiveTheWholeWindowOfAMessageLargerThanTheStreams() throws IOException {
        RawClient client = opened.connect(opened.serve(NARROW, EchoService.definition()));
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
}
