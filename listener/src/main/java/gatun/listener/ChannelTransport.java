// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.bindings.sockets.EventPoll;
import gatun.listener.Transport.SocketTransport;
import gatun.listener.Transport.TransferredBytes;
import gatun.memory.threads.CooperativeYield.CarrierTimeSlice;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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
    private final CarrierTimeSlice turn = new CarrierTimeSlice();

    /** Held while the channel is closed, and while others are told its descriptor, which may be reused afterwards. */
    private final Object closing = new Object();

    /** The poll that waits for the channel while it is on loan, else null. Guarded by {@link #closing}. */
    private @Nullable EventPoll poll;

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

    /**
     * Lends the channel: from now on it waits for nothing by itself, and {@linkplain #enterPoll others} find what
     * comes.
     *
     * @param closed is run once the channel is closed
     * @param waits is run before the channel is to wait, on the thread that would; afterwards the loan has ended
     * @return the descriptor by which it is found, which nobody else has until the channel is closed; negative where it
     *     cannot be lent: it is closed already, or the JVM was started without
     *     {@code --add-exports=java.base/sun.nio.ch=gatun.listener} and keeps descriptors to itself
     */
    public int beginLoan(Runnable closed, Runnable waits) {
        int descriptor = ChannelDescriptor.of(channel);
        if (descriptor < 0) {
            return descriptor;
        }
        try {
            channel.configureBlocking(false);
        } catch (IOException e) {
            LOG.trace("the connection is closed already", e);
            return -1;
        }
        beforeWaiting = waits;
        onClose = closed;
        return descriptor;
    }

    /** Has {@code others} find what comes while the channel is on loan; false where that is not possible. */
    public boolean enterPoll(EventPoll others) {
        synchronized (closing) {
            int descriptor = ChannelDescriptor.of(channel);
            if (descriptor < 0 || !others.add(descriptor)) {
                return false;
            }
            poll = others;
            return true;
        }
    }

    /** The channel is waited for by others no more, though it does not wait by itself, either. Any thread. */
    public void leavePoll() {
        synchronized (closing) {
            EventPoll others = poll;
            poll = null;
            if (others != null) {
                others.remove(ChannelDescriptor.of(channel));
            }
        }
    }

    /** The channel is on loan no more, and waits again by itself. */
    public void endLoan() {
        leavePoll();
        onClose = null;
        beforeWaiting = null;
        try {
            channel.configureBlocking(true);
        } catch (IOException e) {
            LOG.trace("the connection is closed already", e);
        }
    }

    /** Whether an operation that moved no byte may be tried again, now waiting. */
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
        synchronized (closing) {
            leavePoll();
            try {
                channel.close();
            } catch (IOException e) {
                LOG.trace("the connection was already closed", e);
            }
        }
        Runnable closed = onClose;
        if (closed != null) {
            closed.run();
        }
    }

    /** The file descriptors of channels, which the JDK keeps to itself unless it is started with a flag. */
    static final class ChannelDescriptor {
        private static final Logger LOG = LoggerFactory.getLogger(ChannelDescriptor.class);
        private static final int UNKNOWN = -1;

        /** {@code int SelChImpl.getFDVal()} of a channel; null where it is not accessible. */
        private static final @Nullable MethodHandle GET = find();

        private ChannelDescriptor() {}

        private static @Nullable MethodHandle find() {
            try {
                return MethodHandles.lookup()
                        .findVirtual(
                                Class.forName("sun.nio.ch.SelChImpl"), "getFDVal", MethodType.methodType(int.class))
                        .asType(MethodType.methodType(int.class, SocketChannel.class));
            } catch (ReflectiveOperationException e) {
                LOG.debug("the JVM does not tell the descriptors of channels", e);
                return null;
            }
        }

        /** The descriptor of {@code channel}; negative where it is closed, or the JVM does not tell. */
        static int of(SocketChannel channel) {
            if (GET == null || !channel.isOpen()) {
                return UNKNOWN;
            }
            try {
                return (int) GET.invokeExact(channel);
            } catch (Throwable t) {
                throw new AssertionError("asking a channel for its descriptor may not fail", t);
            }
        }
    }
}
