// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.buffers.DataReader;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** The bytes of one connection. One thread reads and one thread writes at a time; both may wait. */
public interface Transport {
    /**
     * Does the handshake, if there is one, before the first byte: once, on the reading thread, which may wait. Returns
     * the session of a handshake of ours. Throws IOException when the client leaves, or fails it.
     */
    default Optional<SSLSession> open() throws IOException {
        return Optional.empty();
    }

    /** Reads at least one byte into {@code target}, which has room; -1 at the end. Fails when closed meanwhile. */
    int read(ByteBuffer target) throws IOException;

    /**
     * Writes some of what remains in {@code sources}, from {@code first} on and before {@code end}: at least one byte
     * where there is one. Waits for a client that takes nothing. Fails when closed meanwhile.
     */
    void writeSome(ByteBuffer[] sources, int first, int end) throws IOException;

    /** Writes all that remains in the first {@code count} of {@code sources}. Fails when closed meanwhile. */
    default void write(ByteBuffer[] sources, int count) throws IOException {
        int first = 0;
        while (first < count) {
            if (sources[first].hasRemaining()) {
                writeSome(sources, first, count);
            } else {
                first++;
            }
        }
    }

    /** What has gone over the socket. For any thread. */
    TransferredBytes transferred();

    /** Tells the client that no more bytes will come. Never throws; for the writing thread. */
    void shutdownOutput();

    /** Ends the connection and wakes its reader and writer. Never throws; any thread. */
    void close();

    /** Gives back the buffers that it holds; to be called when nobody reads or writes any more. */
    default void release() {
        // Most have none.
    }

    /**
     * How many bytes have gone over a connection's socket, those of TLS included. One thread at a time reads the
     * connection and counts what came, and one at a time writes to it and counts what was sent; any thread may look,
     * and sees a number that may be a moment old.
     */
    public static final class TransferredBytes {
        private static final VarHandle IN;
        private static final VarHandle OUT;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                IN = lookup.findVarHandle(TransferredBytes.class, "in", long.class);
                OUT = lookup.findVarHandle(TransferredBytes.class, "out", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private long in;
        private long out;

        /** {@code count} bytes came, or the end where it is negative. For the reading thread. */
        public void came(long count) {
            if (count > 0) {
                IN.setOpaque(this, in + count);
            }
        }

        /** {@code count} bytes were sent. For the writing thread. */
        public void sent(long count) {
            OUT.setOpaque(this, out + count);
        }

        /** How many bytes the client has sent. */
        public long in() {
            return (long) IN.getOpaque(this);
        }

        /** How many bytes the client was sent, as far as the system has taken them. */
        public long out() {
            return (long) OUT.getOpaque(this);
        }
    }

    /** Bytes that a listener read from a connection before it knew who handles it. */
    public static final class EarlyBytes {
        private EarlyBytes() {}

        /** Takes the bytes that the listener's {@code reader} holds; does not block. For the connection's thread. */
        public static byte[] take(DataReader reader) {
            int available = reader.available();
            // Asking for no bytes would wait for some.
            return available == 0 ? new byte[0] : reader.readBytes(available);
        }
    }

    /** The bytes of a connection whose socket can also be read without waiting. */
    public interface SocketTransport extends Transport {
        /**
         * Reads the bytes that are there into {@code target}, which has room, without waiting; 0 when none are there
         * now, -1 when the client will send no more. As for {@link #read}, by one thread at a time, and never while
         * another thread writes.
         */
        int readNow(ByteBuffer target) throws IOException;

        /**
         * Stops all reading and wakes the reader, which finds the end of the client's bytes. Never throws; any thread.
         */
        void shutdownInput();
    }
}
