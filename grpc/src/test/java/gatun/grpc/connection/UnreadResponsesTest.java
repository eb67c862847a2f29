// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Clients that read nothing while they send frames that each need a response: the waiting responses are counted, and
 * bounded.
 */
@Timeout(60)
class UnreadResponsesTest {
    private static final Duration LONG = Duration.ofHours(1);

    /** The most that the heap may grow by, far below the size of an object for each frame. */
    private static final long GROWTH_LIMIT = 12 << 20;

    @RegisterExtension
    final TestResources resources = new TestResources();

    /**
     * A server that gives clients so long to read, and a client whose first response fills its socket, so that nothing
     * else goes out.
     */
    private RawClient stalled(Duration patience) throws IOException {
        KeepaliveSettings keepalive = new KeepaliveSettings(
                new KeepaliveSettings.Pings(LONG, patience, 2),
                new KeepaliveSettings.ClientPings(LONG, 0),
                false,
                KeepaliveSettings.Age.ANY,
                LONG);
        TestServer server = resources.serve(
                TestServer.settings(keepalive),
                EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    answer.onNext(new byte[32 << 20]);
                    answer.onCompleted();
                })));
        RawClient client = resources.add(RawClient.silent(server));
        client.write(Http2.preface());
        int window = 1 << 30;
        client.frame(Http2.SETTINGS, 0, 0, RawClient.setting(Http2.SETTINGS_INITIAL_WINDOW_SIZE, window));
        client.windowUpdate(0, window);
        client.call(1, false, "Unary");
        client.message(1, true);
        client.await(f -> f.type() == Http2.DATA);
        return client;
    }

    private static byte[] frame(int type, int streamId, byte... payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(RawClient.ints(payload.length << 8 | type));
        frame.write(0);
        frame.writeBytes(RawClient.ints(streamId));
        frame.writeBytes(payload);
        return frame.toByteArray();
    }

    /** Sends frames again and again; false when the server has hung up before that is done. */
    private static boolean send(RawClient client, int times, byte[]... frames) {
        ByteArrayOutputStream batch = new ByteArrayOutputStream();
        for (int i = 0; i < 1000; i++) {
            for (byte[] frame : frames) {
                batch.writeBytes(frame);
            }
        }
        byte[] bytes = batch.toByteArray();
        try {
            for (int sent = 0; sent < times; sent += 1000) {
                client.write(bytes);
            }
            return true;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void shouldKeepNothingOfWindowsThatGrow() throws IOException {
        RawClient client = stalled(LONG);
        client.call(3, false, "Unary");
        long before = usedHeap();

        boolean sent = send(
                client,
                500_000,
                frame(Http2.WINDOW_UPDATE, 0, RawClient.ints(100)),
                frame(Http2.WINDOW_UPDATE, 3, RawClient.ints(100)));

        assertThat(sent).as("the connection goes on").isTrue();
        assertThat(usedHeap() - before).isLessThan(GROWTH_LIMIT);
    }

    @Test
    void shouldEndTheConnectionOfAClientThatIsOwedTooManyAnswers() throws IOException {
        RawClient client = stalled(Duration.ofMillis(100));
        long before = usedHeap();
        byte[] refused = RawClient.callBlock("Unknown");

        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            // Frames after the refusal are ignored until the connection ends.
            for (int id = 3; id > 0; id += 2) {
                try {
                    client.frame(Http2.HEADERS, Http2.FLAG_END_HEADERS | Http2.FLAG_END_STREAM, id, refused);
                } catch (UncheckedIOException hungUp) {
                    return;
                }
            }
            throw new AssertionError("the server took all");
        });
        assertThat(usedHeap() - before).isLessThan(GROWTH_LIMIT);
    }

    @Test
    void shouldCountCancelledCallsUntilTheWriterHasForgottenThem() throws IOException {
        RawClient client = stalled(Duration.ofMillis(100));
        long before = usedHeap();

        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            // Frames after the refusal are ignored until the connection ends.
            for (int id = 3; id > 0; id += 2) {
                try {
                    client.call(id, false, "Unary");
                    client.frame(Http2.RST_STREAM, 0, id, RawClient.ints(Http2Error.CANCEL.code()));
                } catch (UncheckedIOException hungUp) {
                    return;
                }
            }
            throw new AssertionError("the server took all");
        });
        assertThat(usedHeap() - before).isLessThan(GROWTH_LIMIT);
    }

    @Test
    void shouldEndTheConnectionOfAClientThatSendsSettingsWithoutReading() throws IOException {
        RawClient client = stalled(LONG);

        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            boolean taken = true;
            while (taken) {
                taken = send(client, 1000, frame(Http2.SETTINGS, 0));
            }
        });
    }
}
