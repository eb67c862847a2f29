// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.memory.threads.CarrierTurn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The socket channel itself: native memory is read and written in place. */
public final class ChannelTransport implements SocketTransport {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelTransport.class);

    private final SocketChannel channel;
    private final TransferredBytes transferred = new TransferredBytes();

    /** That of the reader. */
    private final CarrierTurn turn = new CarrierTurn();

    /** Bytes that the listener read before it knew the protocol; used by the reader only. */
    private final ByteBuffer early;

    /** The bytes of {@code channel}, from which {@code early} has been read already. */
    public ChannelTransport(SocketChannel channel, byte[] early) {
        this.channel = channel;
        this.early = ByteBuffer.wrap(early);
        transferred.came(early.length);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (early.hasRemaining()) {
            return readEarly(target);
        }
        long begunNanos = turn.begin();
        int count = readChannel(target);
        turn.end(begunNanos);
        return count;
    }

    private int readChannel(ByteBuffer target) throws IOException {
        int count = channel.read(target);
        transferred.came(count);
        return count;
    }

    private int readEarly(ByteBuffer target) {
        int count = Math.min(early.remaining(), target.remaining());
        target.put(early.slice(early.position(), count));
        early.position(early.position() + count);
        return count;
    }

    @Override
    public int readNow(ByteBuffer target) throws IOException {
        if (early.hasRemaining()) {
            return readEarly(target);
        }
        channel.configureBlocking(false);
        try {
            return readChannel(target);
        } finally {
            channel.configureBlocking(true);
        }
    }

    /** Writes some of what remains in {@code source}; as {@link #writeSome(ByteBuffer[], int, int)}. */
    void writeSome(ByteBuffer source) throws IOException {
        transferred.sent(channel.write(source));
    }

    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        transferred.sent(end - first == 1 ? channel.write(sources[first]) : channel.write(sources, first, end - first));
    }

    @Override
    public TransferredBytes transferred() {
        return transferred;
    }

    @Override
    public void shutdownOutput() {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }

    @Override
    public void shutdownInput() {
        try {
            channel.shutdownInput();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }
}
