// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.regions.Mappings;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pools whose memory other processes map too. */
@Timeout(60)
class SharedPoolTest {
    private static final String NAME = "gatun-shared-pool-test";
    private static final int MIB = 1 << 20;

    private static FileChannel open(BufferPool pool) throws IOException {
        return FileChannel.open(pool.file().path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private static byte[] read(FileChannel file, long offset, int byteSize) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(byteSize);
        while (bytes.hasRemaining() && file.read(bytes, offset + bytes.position()) > 0) {}
        assertThat(bytes.hasRemaining()).isFalse();
        return bytes.array();
    }

    @Test
    void shouldHaveTheBytesOfABufferWhereItsOffsetSays() throws IOException {
        try (BufferPool pool = BufferPool.shared(NAME, 8 * MIB);
                FileChannel file = open(pool)) {
            List<Buffer> buffers = new ArrayList<>();
            for (int byteSize : new int[] {1, 256, 300, 70_000, MIB, 256}) {
                Buffer buffer = pool.take(byteSize);
                buffer.segment().fill((byte) (buffers.size() + 1));
                buffers.add(buffer);
            }
            for (int i = 0; i < buffers.size(); i++) {
                Buffer buffer = buffers.get(i);
                assertThat(buffer.offset() % 64).isZero();
                assertThat(read(file, buffer.offset(), (int) buffer.byteSize())).containsOnly((byte) (i + 1));
                assertThat(pool.file().segment(buffer.offset(), 1).address()).isEqualTo(buffer.address());
            }
            Buffer last = buffers.getLast();
            file.write(ByteBuffer.wrap(new byte[] {42}), last.offset() + 3);
            assertThat(last.segment().get(ValueLayout.JAVA_BYTE, 3))
                    .as("what another writes")
                    .isEqualTo((byte) 42);
            buffers.forEach(Buffer::close);
        }
    }

    @Test
    void shouldCopyToTheFile() throws IOException {
        try (BufferPool pool = BufferPool.shared(NAME, MIB);
                FileChannel file = open(pool);
                Buffer copy = pool.copyOf(MemorySegment.ofArray(new byte[] {1, 2, 3}))) {
            assertThat(read(file, copy.offset(), 3)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void shouldGiveThePagesOfLargeBuffersBackThatStayIdle() throws IOException {
        try (BufferPool pool = BufferPool.shared(NAME, 64 * MIB);
                FileChannel file = open(pool)) {
            Buffer used = pool.take(2 * MIB);
            Buffer cold = pool.take(2 * MIB);
            used.segment().fill((byte) 2);
            cold.segment().fill((byte) 1);
            long usedOffset = used.offset();
            long coldOffset = cold.offset();
            cold.close();
            pool.trim();
            used.close();
            assertThat(read(file, coldOffset, 2 * MIB)[MIB])
                    .as("idle for a round")
                    .isEqualTo((byte) 1);

            pool.trim();
            assertThat(read(file, coldOffset, 2 * MIB)).as("idle for two").containsOnly((byte) 0);
            assertThat(read(file, usedOffset, 2 * MIB)[MIB]).as("idle for one").isEqualTo((byte) 2);
            try (Buffer again = pool.take(2 * MIB)) {
                assertThat(again.offset()).isEqualTo(usedOffset);
            }
        }
    }

    @Test
    void shouldKeepTheFileUntilTheLastBufferIsClosed() {
        BufferPool pool = BufferPool.shared(NAME, MIB);
        Buffer late = pool.take(5000);
        pool.close();
        late.segment().fill((byte) 9);
        assertThat(Mappings.naming(NAME)).isEqualTo(1);
        assertThat(pool.file().path()).exists();
        late.close();
        assertThat(Mappings.naming(NAME)).isZero();
        assertThat(Mappings.descriptorsNaming(NAME)).isZero();
    }

    @Test
    void shouldHaveNoFileWhenItsMemoryIsPrivate() {
        try (BufferPool pool = new BufferPool(MIB)) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(pool::file)
                    .withMessage("this pool's memory is the process's own");
        }
    }
}
