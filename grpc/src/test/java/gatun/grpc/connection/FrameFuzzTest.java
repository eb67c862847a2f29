// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.Http2;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Frames and header blocks made up, and right ones spoilt: whatever comes, the connection ends or goes on, nothing is
 * kept, and the next client is served. The seed is {@code gatun.fuzz.seed}, so that a failure can be had again.
 */
@Timeout(120)
class FrameFuzzTest {
    private static final long SEED = Long.getLong("gatun.fuzz.seed", 20_261_121L);
    private static final int CONNECTIONS = Integer.getInteger("gatun.fuzz.connections", 1000);
    private static final int FRAMES = 40;
    private static final int DEADLINE_MILLIS = 10_000;

    @Test
    void shouldSurviveWhateverClientsSend() throws IOException {
        Random seeds = new Random(SEED);
        try (TestServer server = TestServer.start(EchoService.definition())) {
            for (int i = 0; i < CONNECTIONS; i++) {
                long seed = seeds.nextLong();
                send(server, new Random(seed), seed);
                if (i % 50 == 0) {
                    assertServes(server, seed);
                }
            }
            assertServes(server, SEED);
            server.awaitNothingLent();
        }
    }

    private static void assertServes(TestServer server, long seed) throws IOException {
        try (RawClient next = RawClient.connect(server)) {
            next.assertEchoes(1);
        } catch (AssertionError | UncheckedIOException e) {
            throw new AssertionError("after the connection with the seed " + seed, e);
        }
    }

    /** One connection: greets, sends what comes to mind, ends its side and waits for the server to end the other. */
    private static void send(TestServer server, Random random, long seed) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(DEADLINE_MILLIS);
            CompletableFuture<Void> end =
                    CompletableFuture.runAsync(() -> readAll(socket), task -> Thread.startVirtualThread(task));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes(Http2.preface());
            frame(bytes, Http2.SETTINGS, 0, 0, new byte[0]);
            int count = random.nextInt(1, FRAMES);
            for (int i = 0; i < count; i++) {
                appendFrame(bytes, random, 2 * i + 1);
            }
            byte[] all = bytes.toByteArray();
            spoil(all, random);
            try {
                socket.getOutputStream().write(all);
                socket.shutdownOutput();
            } catch (IOException e) {
                assertThat(e).as("the server hung up").hasNoCause();
            }
            assertThat(end)
                    .as("the connection with the seed %d ends", seed)
                    .succeedsWithin(Duration.ofMillis(2 * DEADLINE_MILLIS));
        }
    }

    private static void readAll(Socket socket) {
        try (InputStream in = socket.getInputStream()) {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the server keeps a connection that its client ended", e);
        } catch (IOException e) {
            // Reset: an end too.
        }
    }

    private static void appendFrame(ByteArrayOutputStream bytes, Random random, int nextId) {
        switch (random.nextInt(6)) {
            case 0 -> {
                frame(bytes, Http2.HEADERS, Http2.FLAG_END_HEADERS, nextId, RawClient.callBlock("Unary"));
                frame(bytes, Http2.DATA, random.nextInt(2), nextId, RawClient.prefixed(new byte[random.nextInt(300)]));
            }
            case 1 -> frame(bytes, Http2.HEADERS, Http2.FLAG_END_HEADERS, nextId, spoiltBlock(random));
            case 2 -> {
                byte[] block = RawClient.callBlock("Bidi");
                int cut = random.nextInt(block.length);
                frame(bytes, Http2.HEADERS, 0, nextId, Arrays.copyOf(block, cut));
                frame(
                        bytes,
                        Http2.CONTINUATION,
                        Http2.FLAG_END_HEADERS,
                        nextId,
                        Arrays.copyOfRange(block, cut, block.length));
            }
            case 3 ->
                frame(bytes, Http2.WINDOW_UPDATE, 0, random.nextInt(nextId + 1), RawClient.ints(random.nextInt()));
            case 4 ->
                frame(
                        bytes,
                        Http2.SETTINGS,
                        0,
                        0,
                        RawClient.setting(random.nextInt(8), random.nextInt(1 << random.nextInt(1, 31))));
            default -> {
                byte[] payload = new byte[random.nextInt(60)];
                random.nextBytes(payload);
                frame(bytes, random.nextInt(12), random.nextInt(256), random.nextInt(nextId + 3), payload);
            }
        }
    }

    /** A header block that begins well, perhaps, and goes on with any bytes, or with some changed. */
    private static byte[] spoiltBlock(Random random) {
        byte[] block = RawClient.callBlock("Unary", "test-text", "x".repeat(random.nextInt(200)));
        if (random.nextBoolean()) {
            byte[] any = new byte[random.nextInt(1, 400)];
            random.nextBytes(any);
            return any;
        }
        for (int i = random.nextInt(5); i >= 0; i--) {
            block[random.nextInt(block.length)] = (byte) random.nextInt();
        }
        return block;
    }

    /** Changes some bytes behind the greeting, sometimes. */
    private static void spoil(byte[] bytes, Random random) {
        int greeting = Http2.preface().length + Http2.FRAME_HEADER_SIZE;
        if (random.nextInt(3) == 0 && bytes.length > greeting) {
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(greeting, bytes.length)] = (byte) random.nextInt();
            }
        }
    }

    private static void frame(ByteArrayOutputStream bytes, int type, int flags, int streamId, byte[] payload) {
        bytes.writeBytes(ByteBuffer.allocate(Http2.FRAME_HEADER_SIZE + payload.length)
                .putInt((payload.length << 8) | type)
                .put((byte) flags)
                .putInt(streamId)
                .put(payload)
                .array());
    }
}
