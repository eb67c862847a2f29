// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.memory.threads.CarrierTurn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket channel itself: native memory is read and written in place. While it is on loan, the channel waits for
 * nothing by itself; whoever uses it then waits only after the loan's owner has prepared that.
 */
public final class ChannelTransport implements SocketTransport {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelTransport.class);

    private final SocketChannel channel;
    private final TransferredBytes transferred = new TransferredBytes();

    /** That of the reader. */
    private final CarrierTurn turn = new CarrierTurn();

    /** Both null while the channel is not on loan. */
    private volatile @Nullable Runnable onClose;

    private volatile @Nullable Runnable beforeWaiting;

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
        while (count == 0 && prepareToWait()) {
            count = channel.read(target);
        }
        transferred.came(count);
        return count;
    }

    private int readSome(ByteBuffer target) throws IOException {
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
        if (!channel.isBlocking()) {
            return readSome(target);
        }
        channel.configureBlocking(false);
        try {
            return readSome(target);
        } finally {
            channel.configureBlocking(true);
        }
    }

    /** Writes some of what remains in {@code source}; as {@link #writeSome(ByteBuffer[], int, int)}. */
    void writeSome(ByteBuffer source) throws IOException {
        long count = channel.write(source);
        while (count == 0 && source.hasRemaining() && prepareToWait()) {
            count = channel.write(source);
        }
        transferred.sent(count);
    }

    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        long count = writeChannel(sources, first, end);
        while (count == 0 && prepareToWait()) {
            count = writeChannel(sources, first, end);
        }
        transferred.sent(count);
    }

    private long writeChannel(ByteBuffer[] sources, int first, int end) throws IOException {
        return end - first == 1 ? channel.write(sources[first]) : channel.write(sources, first, end - first);
    }

    /** The channel, for whoever it is on loan to. */
    public SocketChannel channel() {
        return channel;
    }

    /**
     * The channel is on loan from now on, and its new owner may make it non-blocking.
     *
     * @param closed is run once the channel is closed
     * @param waits is run before the channel is to wait, on the thread that would; afterwards it is blocking
     */
    public void beginLoan(Runnable closed, Runnable waits) {
        beforeWaiting = waits;
        onClose = closed;
    }

    /** The channel is on loan no more, and blocking. */
    public void endLoan() {
        onClose = null;
        beforeWaiting = null;
    }

    /** Whether what has moved no byte may be tried again, now waiting. */
    private boolean prepareToWait() {
        Runnable waits = beforeWaiting;
        if (waits == null || channel.isBlocking()) {
            return false;
        }
        waits.run();
        return true;
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
            Runnable closed = onClose;
            if (closed != null) {
                closed.run();
            }
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }
}
