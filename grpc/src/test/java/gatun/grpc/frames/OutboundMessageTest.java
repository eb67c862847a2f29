// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.listener.IoBuffers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A message of bytes and parts, of which some are empty, is the same bytes however it is read. */
class OutboundMessageTest {
    private static final int LONG = 5000; // is sent from where it lies
    private static final String EXPECTED = "ab" + "x".repeat(LONG) + "cd" + "yy" + "efg";

    private final AtomicInteger closed = new AtomicInteger();

    private static MemorySegment part(Arena arena, String text) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, text.getBytes(StandardCharsets.US_ASCII));
    }

    private OutboundMessage message(Arena arena) {
        MemorySegment[] parts = {part(arena, "x".repeat(LONG)), MemorySegment.NULL, part(arena, "yy"), part(arena, "")};
        byte[] bytes = "abcdefg_unused".getBytes(StandardCharsets.US_ASCII);
        return new OutboundMessage(bytes, 7, new int[] {2, 2, 4, 4}, parts, closed::incrementAndGet);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5000, 10_000})
    void shouldReadAllBytesInOrder(int step) {
        try (Arena arena = Arena.ofConfined()) {
            OutboundMessage message = message(arena);
            ByteArrayOutputStream read = new ByteArrayOutputStream();
            byte[] target = new byte[step];
            for (int count = message.read(target, 0, step); count >= 0; count = message.read(target, 0, step)) {
                read.write(target, 0, count);
                assertThat(message.available()).isEqualTo(EXPECTED.length() - read.size());
            }

            assertThat(read.toString(StandardCharsets.US_ASCII)).isEqualTo(EXPECTED);
            assertThat(message.byteSize()).isEqualTo(EXPECTED.length());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5000, 10_000})
    void shouldSendAllBytesBehindAPrefix(int step) throws IOException {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        WriteBatch batch = new WriteBatch(new ConnectionBuffers(new IoBuffers()), (buffers, count) -> {
            for (int i = 0; i < count; i++) {
                byte[] bytes = new byte[buffers[i].remaining()];
                buffers[i].get(bytes);
                sent.writeBytes(bytes);
            }
        });
        try (Arena arena = Arena.ofConfined()) {
            OutboundMessage message = message(arena);
            for (long left = message.wireByteSize(); left > 0; left -= step) {
                message.appendTo(batch, (int) Math.min(left, step));
            }
            batch.flush();
        }
        batch.release();

        byte[] prefix = {0, 0, 0, (byte) (EXPECTED.length() >> Byte.SIZE), (byte) EXPECTED.length()};
        assertThat(sent.toByteArray()).startsWith(prefix);
        assertThat(sent.toString(StandardCharsets.US_ASCII).substring(prefix.length))
                .isEqualTo(EXPECTED);
    }

    @Test
    void shouldGiveItsMemoryBackOnce() {
        OutboundMessage message = message(Arena.ofAuto());
        message.close();
        message.close();

        assertThat(closed).hasValue(1);
    }
}
