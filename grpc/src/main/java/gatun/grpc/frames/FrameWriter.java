// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.listener.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes a connection's frames. One lock orders them: its holder checks a window, takes from it and writes in one go.
 * The reader never waits for it: its frames and changes go into a queue ({@link #control}) that the holder empties, or
 * the reader when there is none. A call with an empty window leaves the lock and parks until its stream is woken.
 */
public final class FrameWriter {
    /** A task that runs under the lock, on any thread: appends frames, changes windows. Must not wait. */
    @FunctionalInterface
    public interface Control {
        /** Appends frames or changes windows. */
        void apply(FrameWriter writer) throws IOException;
    }

    /** The most bytes of a message that are written before others get their turn. */
    private static final int BATCH_SIZE = 256 * 1024;

    private final Transport transport;
    private final ThreadFactory threads;
    private final Consumer<Throwable> onFailure;
    private final ReentrantLock lock = new ReentrantLock();
    private final PendingControls pending;
    private final AtomicBoolean flushing = new AtomicBoolean();

    // Guarded by lock.
    private final WriteBatch batch;
    private final FrameEncoder frames;
    private @Nullable Runnable afterFlush;
    private final ArrayList<SendingStream> parked = new ArrayList<>();

    // Written under the lock, read anywhere.
    private volatile boolean closed;
    private volatile long connectionWindow = Http2.DEFAULT_WINDOW_SIZE;

    /** The initial send window of every stream, in bytes, as the client's settings say. */
    private volatile long initialWindow = Http2.DEFAULT_WINDOW_SIZE;

    /** When the write that is under way began, or 0. */
    private volatile long writingSinceNanos;

    /** Cuts off who leaves too many responses unread for {@code readingPatience}; writes nothing after a failure. */
    public FrameWriter(
            Transport transport,
            ConnectionBuffers buffers,
            Duration readingPatience,
            ThreadFactory threads,
            Consumer<Throwable> onFailure) {
        this.transport = transport;
        this.pending = new PendingControls(readingPatience, () -> closed);
        this.threads = threads;
        this.batch = new WriteBatch(buffers, this::write);
        this.frames = new FrameEncoder(batch);
        this.onFailure = onFailure;
    }

    /**
     * {@link #enqueue} for responses that clients can cause any number of times: while too many are unread, waits, so
     * that no more is read. For the reading thread. Throws ConnectionError when that takes too long.
     */
    public void control(Control action) {
        pending.awaitRoom();
        enqueue(action);
    }

    /** Enqueues {@code lastWords}, writes everything that waits, and then runs {@code afterwards}. */
    public void finish(Control lastWords, Runnable afterwards) {
        enqueue(w -> {
            lastWords.apply(w);
            afterFlush = afterwards;
        });
    }

    /**
     * Does {@code action} under the lock, now or when its holder is done. Never waits for lock or client: a thread of
     * its own writes. Only for tasks of which a bounded number can wait. Any thread.
     */
    public void enqueue(Control action) {
        pending.add(action);
        boolean toWrite = false;
        while (!toWrite && !pending.isEmpty() && lock.tryLock()) {
            try {
                applyPending();
                toWrite = (!closed && (!batch.isEmpty() || afterFlush != null)) || !pending.isEmpty();
            } catch (Throwable t) {
                fail(t);
            } finally {
                lock.unlock();
            }
        }
        if (toWrite && flushing.compareAndSet(false, true)) {
            threads.newThread(this::flushPending).start();
        }
    }

    /** A look at the client's bytes that does not wait. */
    @FunctionalInterface
    public interface Look {
        boolean look() throws IOException;
    }

    /** The result of {@code look}, during which nobody writes; false when somebody does. */
    public boolean whileNobodyWrites(Look look) throws IOException {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            return look.look();
        } finally {
            lock.unlock();
            if (!pending.isEmpty()) {
                enqueue(w -> {}); // with what came meanwhile
            }
        }
    }

    private void flushPending() {
        flushing.set(false);
        lock.lock();
        try {
            applyPending();
            flush();
        } catch (Throwable t) {
            fail(t);
        } finally {
            lock.unlock();
        }
        settlePending();
    }

    /**
     * Sends a part of a response; waits, parked, while windows are empty. Blocks are empty for none; {@code message},
     * or null, is closed on every path, {@code trailers} end the stream. False if stream or connection ended before.
     */
    public boolean send(SendingStream stream, byte[] headers, @Nullable OutboundMessage message, byte[] trailers) {
        try (message) {
            lock.lock();
            try {
                applyPending(); // the stream's end may be among it
                if (closed || stream.sendClosed()) {
                    flush(); // of what others left to this thread
                    return false;
                }
                stream.beforeResponse();
                if (headers.length > 0) {
                    frames.headers(stream.id(), headers, false);
                    stream.headersSent();
                }
                if (message != null && !sendBody(stream, message)) {
                    return false;
                }
                if (trailers.length > 0) {
                    frames.headers(stream.id(), trailers, true);
                    if (stream.remoteOpen()) {
                        frames.reset(stream.id(), Http2Error.NO_ERROR);
                    }
                    endStream(stream);
                }
                flush();
                return true;
            } catch (Throwable t) {
                // Whatever it is, a frame may be half written: the connection is lost.
                fail(t);
                return false;
            } finally {
                lock.unlock();
                settlePending();
            }
        }
    }

    private boolean sendBody(SendingStream stream, OutboundMessage message) throws IOException {
        long left = message.wireByteSize();
        while (left > 0) {
            int allowed = (int) Math.min(Math.min(connectionWindow, stream.sendWindow()), Math.min(left, BATCH_SIZE));
            if (allowed <= 0) {
                flush();
                stream.waitsForClient();
                if (!parkUntilWoken(stream)) {
                    return false;
                }
                continue;
            }
            moveConnectionWindow(-allowed);
            stream.moveSendWindow(-allowed);
            left -= allowed;
            stream.inMessage(left > 0);
            stream.sent(allowed, left);
            frames.data(stream.id(), message, allowed);
            if (left > 0) {
                flush();
                if (lock.hasQueuedThreads()) {
                    giveWay();
                }
                applyPending();
                if (closed || stream.sendClosed()) {
                    flush();
                    return false;
                }
            }
        }
        return true;
    }

    /** Lets those go first who wait for the lock, which is not fair: its holder would mostly get it again. */
    @SuppressWarnings("ThreadPriorityCheck")
    private void giveWay() {
        lock.unlock();
        Thread.yield();
        lock.lock();
    }

    /** Leaves the lock until there may be room in the windows; false when the stream or connection ended meanwhile. */
    private boolean parkUntilWoken(SendingStream stream) {
        if (closed || stream.sendClosed()) {
            return false; // Who ended it has woken whoever waited, and wakes nobody again.
        }
        stream.park(Thread.currentThread());
        parked.add(stream);
        lock.unlock();
        boolean interrupted = false;
        try {
            stream.beforeWaiting();
            settlePending();
            while (stream.isParked()) {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            lock.lock();
            parked.remove(stream);
        }
        return !closed && !stream.sendClosed();
    }

    /** Appends frames. Only under the lock. */
    public FrameEncoder frames() {
        assert lock.isHeldByCurrentThread();
        return frames;
    }

    /** Whether headers or a message went out since the last call. Used by the reading thread only. */
    public boolean dataSent() {
        return frames.dataSent();
    }

    /** Nothing more will be sent on this stream; wakes the call that waits to send. Under the lock. */
    public void endStream(SendingStream stream) {
        assert lock.isHeldByCurrentThread();
        stream.closeSend();
        stream.wake();
    }

    /** Enlarges the connection's send window; false beyond HTTP/2's limit. Under the lock. */
    public boolean growConnectionWindow(long increment) {
        assert lock.isHeldByCurrentThread();
        moveConnectionWindow(increment);
        if (connectionWindow > 0) {
            wakeAll();
        }
        return connectionWindow <= Http2.LARGEST_WINDOW_SIZE;
    }

    /** Whether bytes may be sent on the connection now; a moment's truth. */
    boolean isReady() {
        return !closed && connectionWindow > 0;
    }

    /** The initial send window of every stream, in bytes, as the client's settings say. */
    public long initialWindow() {
        return initialWindow;
    }

    /** Changes the initial send window of all streams; the caller wakes those that wait. Under the lock. */
    public void initialWindow(long byteSize) {
        assert lock.isHeldByCurrentThread();
        initialWindow = byteSize;
    }

    /** Bytes that may be sent on the connection. */
    public long connectionWindow() {
        return connectionWindow;
    }

    /** The number of tasks that wait to be written, at this moment. */
    public int waiting() {
        return pending.size();
    }

    /** How long the write that is under way has been waiting for the client; 0 when none is. */
    public long stalledNanos(long nowNanos) {
        long since = writingSinceNanos;
        return since == 0 ? 0 : nowNanos - since;
    }

    /** Writes nothing more and gives back the buffers; waits for a write under way, which a closed transport ends. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            pending.clear();
            wakeAll();
            batch.release();
        } finally {
            lock.unlock();
        }
    }

    private void settlePending() {
        while (!pending.isEmpty() && lock.tryLock()) {
            try {
                applyPending();
                flush();
            } catch (Throwable t) {
                fail(t);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Runs waiting tasks while the batch has room; drops them all where nothing is written any more. */
    private void applyPending() throws IOException {
        while (closed || batch.hasRoom()) {
            Control action = pending.poll();
            if (action == null) {
                return;
            }
            if (!closed) {
                action.apply(this);
            }
        }
    }

    private void write(ByteBuffer[] buffers, int count) throws IOException {
        writingSinceNanos = System.nanoTime() | 1;
        try {
            transport.write(buffers, count);
        } finally {
            writingSinceNanos = 0;
        }
    }

    private void fail(Throwable t) {
        if (!closed) {
            closed = true;
            wakeAll();
            pending.wakeReader();
            onFailure.accept(t);
        }
    }

    private void flush() throws IOException {
        assert lock.isHeldByCurrentThread();
        if (closed) {
            return;
        }
        batch.flush();
        if (afterFlush != null && pending.isEmpty()) {
            closed = true;
            wakeAll();
            afterFlush.run();
        }
    }

    private void moveConnectionWindow(long delta) {
        assert lock.isHeldByCurrentThread();
        long moved = connectionWindow + delta;
        connectionWindow = moved;
    }

    private void wakeAll() {
        for (SendingStream stream : parked) {
            stream.wake();
        }
        parked.clear();
    }
}
