// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.io.IOException;

/**
 * The flow-control window of a connection: the bytes that its client may still send. Bytes are given back when they are
 * read: how much a stream may keep waiting is its own window's matter. They count as given once the increment is
 * announced, which is late when the client does not read. Used by the reading thread, except for the methods that the
 * writer calls under its lock.
 */
final class ConnectionWindow {
    private final FrameWriter writer;
    private final int size;
    private final int announceSize;

    // Used by the reading thread only.
    private long received;
    private int owed;

    /** All that the client was ever allowed to send; written under the writer's lock, before the client can know. */
    private volatile long allowed = Http2.DEFAULT_WINDOW_SIZE;

    ConnectionWindow(FrameWriter writer, int size) {
        this.writer = writer;
        this.size = size;
        this.announceSize = size / 2;
    }

    /** Tells the client that it may send more than HTTP/2 allows every client at first. Under the writer's lock. */
    void open(FrameWriter w) throws IOException {
        if (size > Http2.DEFAULT_WINDOW_SIZE) {
            announce(w, size - Http2.DEFAULT_WINDOW_SIZE);
        }
    }

    /**
     * A DATA frame of {@code length} bytes, padding and all, came.
     *
     * @throws ConnectionError when the client was not allowed to send it
     */
    void received(int length) {
        received += length;
        if (received > allowed) {
            throw new ConnectionError(Http2Error.FLOW_CONTROL_ERROR, "the connection's window was exceeded");
        }
        owed += length;
        if (owed >= announceSize) {
            int increment = owed;
            owed = 0;
            writer.control(w -> announce(w, increment));
        }
    }

    private void announce(FrameWriter w, int increment) throws IOException {
        long more = allowed + increment;
        allowed = more;
        w.frames().windowUpdate(0, increment);
    }
}
