package gatun.grpc.connection;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of one connection. One thread reads and one thread writes at a time; both may wait. */
interface Transport {
    /** Reads at least one byte into {@code target}, which has room; -1 when the client will send no more. */
    int read(ByteBuffer target) throws IOException;

    /** Writes all that remains in the first {@code count} of {@code sources}. */
    void write(ByteBuffer[] sources, int count) throws IOException;

    /** Tells the client that no more bytes will come. Never throws; any thread. */
    void shutdownOutput();

    /** Ends the connection and wakes whoever reads or writes. Never throws; any thread. */
    void close();
}
