package gatun.grpc.connection;

import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.Hold;
import io.grpc.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Cuts one stream's DATA into messages. The prefix tells a message's length: its buffer is taken then, and every byte goes
 * there from the reader. The reading thread's alone, but for {@link #close()}.
 */
final class MessageAssembler {
    /** Where complete messages and news about them go. */
    interface Receiver {
        /**
         * A message begins.
         *
         * @param beyond how many of its bytes come after the present frame
         */
        void messageBegins(long beyond);

        /** A message is complete. Takes it over. */
        void messageArrived(InboundMessage message, boolean compressed);

        /** The stream's messages cannot be taken; all further DATA is passed over. */
        void messageRefused(Status status);
    }

    private static final Hold NOTHING = () -> {};

    private final BufferPool pool;
    private final Placement placement;
    private final long sizeLimit;
    private final Receiver receiver;

    // The reading thread's.
    private int prefixBytes;
    private boolean compressed;
    private int length;
    private int done;
    private boolean refused;
    private MemorySegment body = MemorySegment.NULL;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock, so that nobody gives memory back that the socket is being read into.
    private Hold hold = NOTHING;
    private boolean busy;
    private boolean closed;

    MessageAssembler(BufferPool pool, Placement placement, long sizeLimit, Receiver receiver) {
        this.pool = pool;
        this.placement = placement;
        this.sizeLimit = sizeLimit;
        this.receiver = receiver;
    }

    /** Takes the next {@code count} bytes of DATA from the reader. */
    void accept(FrameReader in, int count) throws IOException {
        int left = count;
        while (left > 0) {
            if (refused) {
                in.skip(left);
                return;
            }
            if (prefixBytes < OutgoingMessage.PREFIX_SIZE) {
                acceptPrefixByte(in.readByte());
                left--;
                if (prefixBytes == OutgoingMessage.PREFIX_SIZE) {
                    begin(in, left);
                }
            } else {
                int step = Math.min(left, length - done);
                acceptBody(in, step);
                left -= step;
            }
        }
    }

    private void acceptBody(FrameReader in, int count) throws IOException {
        if (!enterBody()) {
            in.skip(count);
            return;
        }
        try {
            in.readInto(body, done, count);
        } finally {
            leaveBody();
        }
        done += count;
        if (done == length && !refused) {
            finish();
        }
    }

    private boolean enterBody() {
        lock.lock();
        try {
            busy = !closed;
            refused |= closed;
            return busy;
        } finally {
            lock.unlock();
        }
    }

    private void leaveBody() {
        lock.lock();
        try {
            busy = false;
            refused |= closed;
            if (closed) {
                release();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether a message has begun and is not complete. */
    boolean inMessage() {
        return !refused && prefixBytes > 0;
    }

    /** Gives back the memory of an incomplete message; what still comes is passed over. Any thread. */
    void close() {
        lock.lock();
        try {
            closed = true;
            if (!busy) {
                release();
            }
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        assert lock.isHeldByCurrentThread();
        Hold taken = hold;
        hold = NOTHING;
        taken.close();
    }

    private void acceptPrefixByte(int value) {
        if (prefixBytes == 0) {
            compressed = (value & 1) != 0;
            length = 0;
            done = 0;
            if (value > 1) {
                refuse(Status.INTERNAL.withDescription(
                        "the first byte of a message's prefix is " + value + " and must be 0 or 1"));
            }
        } else {
            length = length << 8 | value;
        }
        prefixBytes++;
    }

    private void begin(FrameReader in, int leftInFrame) {
        if (refused) {
            return;
        }
        long byteSize = Integer.toUnsignedLong(length);
        if (byteSize > sizeLimit) {
            refuse(Status.RESOURCE_EXHAUSTED.withDescription(
                    "a request message of " + byteSize + " bytes exceeds the limit of " + sizeLimit));
            return;
        }
        if (byteSize == 0) {
            finish();
            return;
        }
        if (take(byteSize, compressed ? 0 : placement.offset(in.peek(leftInFrame), byteSize))) {
            receiver.messageBegins(Math.max(0, byteSize - leftInFrame));
        }
    }

    private boolean take(long byteSize, int offset) {
        Buffer buffer;
        try {
            buffer = pool.take(offset + byteSize);
        } catch (GatunException e) {
            Status status = e.code() == ErrorCode.UNAVAILABLE ? Status.UNAVAILABLE : Status.RESOURCE_EXHAUSTED;
            refuse(status.withDescription(e.getMessage()));
            return false;
        }
        body = buffer.segment().asSlice(offset, byteSize);
        lock.lock();
        try {
            hold = buffer;
            if (closed) {
                refused = true;
                release();
            }
        } finally {
            lock.unlock();
        }
        return !refused;
    }

    private void finish() {
        Hold taken;
        lock.lock();
        try {
            taken = hold;
            hold = NOTHING;
        } finally {
            lock.unlock();
        }
        prefixBytes = 0;
        InboundMessage message = length == 0 ? InboundMessage.empty() : new InboundMessage(body, taken);
        receiver.messageArrived(message, compressed);
    }

    private void refuse(Status status) {
        refused = true;
        receiver.messageRefused(status);
    }
}
