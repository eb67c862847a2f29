// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.streams.InboundMessage.Placement;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.buffers.IncomingBuffer;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import io.grpc.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Cuts one stream's DATA into messages. The prefix tells a message's length: its place is taken then, and every byte
 * goes there from the reader; only received bytes count against the pool. Used by the reading thread only, except for
 * {@link #close()}, {@link #holdBack} and {@link #letGo}.
 */
final class MessageAssembler {
    /** Where complete messages and news about them go. */
    interface Receiver {
        /** A message begins. {@code beyond} says how many of its bytes come after the present frame. */
        void messageBegins(long beyond);

        void messageArrived(InboundMessage message);

        /** The stream's messages cannot be taken; all further DATA is passed over. */
        void messageRefused(Status status);
    }

    private static final Hold NOTHING = () -> {};

    /** How much of a message that has not come is charged with its prefix: a page. */
    private static final long FIRST_BYTES = 4096;

    /** A message that began has to go on: see {@link IncomingBuffer#endWhenStalled}. */
    private static final Duration STALL_LIMIT = Duration.ofMinutes(5);

    private final BufferPool pool;
    private final ClientQuotaKey sender;
    private final Placement placement;
    private final long sizeLimit;
    private final Receiver receiver;

    // Used by the reading thread only.
    private int prefixBytes;
    private boolean compressed;
    private int length;
    private int done;
    private boolean refused;
    private MemorySegment body = MemorySegment.NULL;
    private int offset;

    /** The message that is on its way; null when there is none, or when it has come with its prefix. */
    private volatile @Nullable IncomingBuffer incoming;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock, so that nobody gives memory back that the socket is being read into.
    private Hold hold = NOTHING;
    private boolean busy;
    private boolean closed;

    /** An assembler of the messages of one stream. {@code sender} says whose messages they are. */
    MessageAssembler(BufferPool pool, ClientQuotaKey sender, Placement placement, long sizeLimit, Receiver receiver) {
        this.pool = pool;
        this.sender = sender;
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
            if (prefixBytes < OutboundMessage.PREFIX_SIZE) {
                acceptPrefixByte(in.readByte());
                left--;
                if (prefixBytes == OutboundMessage.PREFIX_SIZE) {
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
        int end = done + count;
        try {
            readBody(in, end);
        } catch (GatunException e) {
            refuse(Status.UNAVAILABLE.withDescription(e.getMessage()));
        } finally {
            leaveBody();
        }
        in.skip(end - done);
        if (done == length && !refused) {
            finish();
        }
    }

    /** Reads the message up to {@code end}, in steps for which the pool gives room. */
    private void readBody(FrameReader in, int end) throws IOException {
        IncomingBuffer target = incoming;
        while (done < end) {
            int step = end - done;
            if (target != null) {
                step = (int) Math.min(step, target.room(offset + done) - offset - done);
            }
            in.readInto(body, done, step);
            done += step;
            if (target != null) {
                target.received(step);
            }
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

    /** Whether there is a message that did not come with its prefix. Any thread. */
    boolean awaitsBytes() {
        return incoming != null;
    }

    /** The client may not send more of the message for now. Any thread. */
    void holdBack() {
        IncomingBuffer message = incoming;
        if (message != null) {
            message.pause();
        }
    }

    /** The client may go on with the message. Any thread. */
    void letGo() {
        IncomingBuffer message = incoming;
        if (message != null) {
            message.resume();
        }
    }

    /** Gives back the memory of an incomplete message; further bytes are skipped. Any thread. */
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
        ByteBuffer here = in.peek(leftInFrame);
        if (take(byteSize, here.remaining(), compressed ? 0 : placement.offset(here, byteSize))) {
            receiver.messageBegins(Math.max(0, byteSize - leftInFrame));
        }
    }

    private boolean take(long byteSize, int here, int offset) {
        this.offset = offset;
        MemorySegment memory;
        Hold taken;
        try {
            if (here == byteSize) {
                Buffer buffer = pool.take(offset + byteSize);
                incoming = null;
                memory = buffer.segment();
                taken = buffer;
            } else {
                IncomingBuffer buffer =
                        pool.receive(offset + byteSize, offset + Math.max(here, FIRST_BYTES), sender, this::evicted);
                buffer.endWhenStalled(STALL_LIMIT.toNanos());
                incoming = buffer;
                memory = buffer.segment();
                taken = buffer;
            }
        } catch (GatunException e) {
            Status status = e.code() == ErrorCode.UNAVAILABLE ? Status.UNAVAILABLE : Status.RESOURCE_EXHAUSTED;
            refuse(status.withDescription(e.getMessage()));
            return false;
        }
        body = memory.asSlice(offset, byteSize);
        lock.lock();
        try {
            hold = taken;
            if (closed) {
                refused = true;
                release();
            }
        } finally {
            lock.unlock();
        }
        return !refused;
    }

    /** The pool has taken the memory away. Any thread. */
    private void evicted(String why) {
        receiver.messageRefused(Status.UNAVAILABLE.withDescription(why));
    }

    private void finish() {
        IncomingBuffer arrived = incoming;
        Hold taken;
        lock.lock();
        try {
            if (closed) {
                refused = true;
                return;
            }
            taken = arrived == null ? hold : arrived.complete();
            hold = NOTHING;
        } catch (GatunException e) {
            // Taken away at the last moment: the receiver hears it from who did that, and closes this.
            refused = true;
            return;
        } finally {
            lock.unlock();
        }
        incoming = null;
        prefixBytes = 0;
        InboundMessage message =
                length == 0 ? InboundMessage.empty(compressed) : new InboundMessage(body, taken, compressed);
        receiver.messageArrived(message);
    }

    private void refuse(Status status) {
        refused = true;
        receiver.messageRefused(status);
    }
}
