// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The half of a stream that sends, as the connection's writer sees it. Changed under the writer's lock. */
public abstract class SendingStream {
    /** Its number, as an object that all who keep the stream by it share. */
    private final Integer id;

    private final FrameWriter writer;

    /** The send window less its initial size, in bytes; below zero when bytes were sent. */
    private volatile long sendCredit;

    private volatile boolean sendClosed;
    private volatile @Nullable Thread parked;
    private boolean headersSent;

    /** Made when the client's window is shut for the first time. */
    private volatile @Nullable SlowReaderDetector pace;

    private boolean inMessage;

    /** The sending half of stream {@code id}, whose frames {@code writer} writes. */
    public SendingStream(int id, FrameWriter writer) {
        this.id = id;
        this.writer = writer;
    }

    public int id() {
        return id;
    }

    /** The same number as a key. */
    public Integer key() {
        return id;
    }

    public FrameWriter writer() {
        return writer;
    }

    /** The end of the response is about to be written. */
    protected abstract void beforeResponse();

    /** The calling thread is about to wait for the client, without the lock. */
    protected abstract void beforeWaiting();

    /** There may be room to send again. */
    protected abstract void windowOpened();

    /** Nothing more can be sent. */
    protected abstract void sendEnded();

    /** Whether the client's half of the stream is open, so that it must be told to stop. */
    public abstract boolean remoteOpen();

    /** A part of a message has to wait for the client. Under the writer's lock. */
    void waitsForClient() {
        SlowReaderDetector known = pace;
        if (known == null) {
            known = new SlowReaderDetector();
            pace = known;
        }
        known.begin();
    }

    /** {@code byteCount} bytes of a message are sent, and {@code left} are not. Under the writer's lock. */
    public void sent(long byteCount, long left) {
        SlowReaderDetector known = pace;
        if (known == null) {
            return;
        }
        if (left > 0) {
            known.addTaken(byteCount);
        } else {
            known.end();
        }
    }

    /** Whether the client reads a message too slowly. Any thread. */
    public boolean isReadTooSlowly() {
        SlowReaderDetector known = pace;
        return known != null && known.isTooSlow();
    }

    /** Whether a message could be sent now without waiting. Any thread. */
    public boolean isReady() {
        return !sendClosed && sendWindow() > 0 && writer.isReady();
    }

    /** Whether that many bytes fit into the client's windows as they are. Any thread. */
    public boolean hasRoomFor(long byteSize) {
        return byteSize <= sendWindow() && byteSize <= writer.connectionWindow();
    }

    /** Whether nothing more can be sent. Any thread. */
    public boolean sendClosed() {
        return sendClosed;
    }

    void closeSend() {
        if (!sendClosed) {
            sendClosed = true;
            sendEnded();
        }
    }

    /** Bytes that may be sent on the stream; negative when the client has made its windows smaller. Any thread. */
    public long sendWindow() {
        return writer.initialWindow() + sendCredit;
    }

    /** Changes the window; may make it negative. */
    public void moveSendWindow(long delta) {
        long moved = sendCredit + delta;
        sendCredit = moved;
        if (delta > 0) {
            wakeToSend();
        }
    }

    /** Lets the call that waits for the window look again, if it may send. */
    public void wakeToSend() {
        if (sendWindow() > 0) {
            wake();
        }
    }

    void headersSent() {
        headersSent = true;
    }

    public boolean hasSentHeaders() {
        return headersSent;
    }

    public void inMessage(boolean now) {
        inMessage = now;
    }

    public boolean isInMessage() {
        return inMessage;
    }

    void park(Thread thread) {
        parked = thread;
    }

    boolean isParked() {
        return parked != null;
    }

    /** Lets the call that waits for the window look again. */
    public void wake() {
        Thread thread = parked;
        if (thread != null) {
            parked = null;
            LockSupport.unpark(thread);
        }
        windowOpened();
    }
}
