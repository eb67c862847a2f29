// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whose bytes an {@link IncomingBuffer} is for, when senders share the memory of a {@link BufferPool}, and whose request
 * an inference is. Senders are the same when their identities are equal. Immutable.
 *
 * @param identity an address, or an object of the connection's own
 */
public record ClientQuotaKey(Object identity) {
    /** Whoever needs no connection: an application that embeds the server, or a model that asks another. */
    public static final ClientQuotaKey THIS_PROCESS = new ClientQuotaKey("this process");

    /** A connection's sender: one for each {@link #network}, and one for each connection from this machine. */
    public static ClientQuotaKey at(SocketAddress remote) {
        return new ClientQuotaKey(network(remote).orElseGet(Object::new));
    }

    /** A client's network: its IPv4 address, or 64 bits of IPv6; empty for loopback and Unix sockets. */
    public static Optional<Object> network(SocketAddress remote) {
        if (remote instanceof InetSocketAddress inet
                && inet.getAddress() != null
                && !inet.getAddress().isLoopbackAddress()) {
            return Optional.of(network(inet.getAddress()));
        }
        return Optional.empty();
    }

    /** The same of an IP address, also of a loopback address. */
    public static Object network(InetAddress ip) {
        return ip instanceof Inet6Address
                ? (Object) ByteBuffer.wrap(ip.getAddress()).getLong()
                : ip;
    }

    /**
     * The pace at which a client reads a response that lies in memory which others may need. A client that takes less
     * than 64 KiB a second is behind; one that is behind by {@link #PATIENCE} reads too slowly, which costs it its
     * response while memory is short. Written by one thread at a time, read by any; allocates nothing.
     */
    public static final class SlowReaderDetector {
        /** How far a client may be behind before others come first. */
        public static final Duration PATIENCE = Duration.ofSeconds(5);

        /** Bytes per second that a client has to take, or to send, at least while memory is short. */
        static final long LEAST_RATE = 64 << 10;

        private static final long NOTHING = 0;

        private final LongSupplier nanoClock;
        private volatile long since = NOTHING;
        private volatile long taken;

        /** Nothing to read yet; timed by {@link System#nanoTime}. */
        public SlowReaderDetector() {
            this(System::nanoTime);
        }

        /** The same, timed by {@code nanoClock}. */
        SlowReaderDetector(LongSupplier nanoClock) {
            this.nanoClock = nanoClock;
        }

        /** There is something to read from now on; without effect where there was already. */
        public void begin() {
            if (since == NOTHING) {
                taken = 0;
                // The lowest bit keeps it from being NOTHING by chance.
                since = nanoClock.getAsLong() | 1;
            }
        }

        /** The client has taken {@code byteCount} bytes more, or the system has for it. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes at a time
        public void addTaken(long byteCount) {
            taken += byteCount;
        }

        /** All is read. */
        public void end() {
            since = NOTHING;
        }

        /** Whether the client reads too slowly for others that find no memory. */
        public boolean isTooSlow() {
            long began = since;
            if (began == NOTHING) {
                return false;
            }
            long due = (long) ((double) taken * TimeUnit.SECONDS.toNanos(1) / LEAST_RATE);
            return nanoClock.getAsLong() - began - due > PATIENCE.toNanos();
        }
    }
}
