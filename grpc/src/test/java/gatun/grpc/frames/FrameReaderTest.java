// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.listener.IoBuffers;
import gatun.listener.Transport;
import gatun.listener.Transport.TransferredBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class FrameReaderTest {
    private static final int SMALL = ConnectionBuffers.SMALL_BYTE_SIZE;

    /** A client whose bytes come in pieces; it notes how much room each read had. */
    private static final class Pieces implements Transport {
        private final Queue<ByteBuffer> pieces = new ArrayDeque<>();
        private final List<Integer> rooms = new ArrayList<>();

        void add(int byteSize) {
            pieces.add(ByteBuffer.allocate(byteSize));
        }

        @Override
        public int read(ByteBuffer target) {
            rooms.add(target.remaining());
            ByteBuffer piece = pieces.peek();
            if (piece == null) {
                return -1;
            }
            int count = Math.min(piece.remaining(), target.remaining());
            target.put(piece.slice(piece.position(), count));
            piece.position(piece.position() + count);
            if (!piece.hasRemaining()) {
                pieces.remove();
            }
            return count;
        }

        @Override
        public void writeSome(ByteBuffer[] sources, int first, int end) {
            throw new AssertionError("nothing is written");
        }

        @Override
        public TransferredBytes transferred() {
            return new TransferredBytes();
        }

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {}
    }

    private final Pieces client = new Pieces();
    private final FrameReader reader = new FrameReader(client, new ConnectionBuffers(new IoBuffers()));

    @Test
    void shouldWaitForAClientWithASmallBuffer() throws IOException {
        client.add(100);
        client.add(200);

        reader.skip(100);
        reader.skip(200);

        assertThat(client.rooms).containsExactly(SMALL, SMALL);
    }

    @Test
    void shouldTakeALargeBufferWhileTheClientHasMore() throws IOException {
        client.add(SMALL + IoBuffers.BYTE_SIZE + 10);
        client.add(1);
        client.add(1);

        reader.skip(SMALL + IoBuffers.BYTE_SIZE + 10);
        reader.skip(1);
        reader.skip(1);

        assertThat(client.rooms).containsExactly(SMALL, IoBuffers.BYTE_SIZE, IoBuffers.BYTE_SIZE, SMALL, SMALL);
        reader.release();
    }

    @Test
    void shouldKeepWhatWasNotReadYetWhenItChangesBuffers() throws IOException {
        ByteBuffer numbers = ByteBuffer.allocate(5000);
        for (int i = 0; i < 1250; i++) {
            numbers.putInt(i);
        }
        client.pieces.add(numbers.flip());
        ByteBuffer more = ByteBuffer.allocate(8).putInt(1250).putInt(1251).flip();
        client.pieces.add(more.slice(0, 2));
        client.pieces.add(more.slice(2, 6));

        for (int i = 0; i < 1252; i++) {
            assertThat(reader.readInt()).isEqualTo(i);
        }
    }
}
