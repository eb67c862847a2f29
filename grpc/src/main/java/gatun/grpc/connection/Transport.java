package gatun.grpc.connection;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** The bytes of one connection. One thread reads and one thread writes at a time; both may wait. */
interface Transport {
    /**
     * Does what comes before the first byte: a handshake, where there is one. The reading thread's, once, before anything is
     * read or written; may wait for the client.
     *
     * @return the session, where the connection is protected by a handshake of ours
     */
    default Optional<SSLSession> open() throws IOException {
        return Optional.empty();
    }

    /** Reads at least one byte into {@code target}, which has room; -1 when the client will send no more. */
    int read(ByteBuffer target) throws IOException;

    /** Writes all that remains in the first {@code count} of {@code sources}. */
    void write(ByteBuffer[] sources, int count) throws IOException;

    /** Tells the client that no more bytes will come. Never throws; the writing thread's. */
    void shutdownOutput();

    /** Ends the connection and wakes whoever reads or writes. Never throws; any thread. */
    void close();

    /** Gives back what was taken from {@code buffers}; when nobody reads or writes any more. */
    default void release(IoBuffers buffers) {
        // Most take none.
    }
}
