package gatun.grpc.connection;

/**
 * What a client may still send on a connection. Bytes are given back when they are read: how much a stream may keep waiting
 * is its own window's matter. The reading thread's alone.
 */
final class ConnectionWindow {
    private final FrameWriter writer;
    private final int announceSize;
    private long left;
    private int owed;

    ConnectionWindow(FrameWriter writer, int size) {
        this.writer = writer;
        this.announceSize = size / 2;
        this.left = size;
    }

    /** A DATA frame of {@code length} bytes, padding and all, came. */
    void received(int length) {
        left -= length;
        if (left < 0) {
            throw new ConnectionError(Http2Error.FLOW_CONTROL_ERROR, "the connection's window was exceeded");
        }
        owed += length;
        if (owed >= announceSize) {
            int increment = owed;
            owed = 0;
            left += increment;
            writer.control(w -> w.frames().windowUpdate(0, increment));
        }
    }
}
