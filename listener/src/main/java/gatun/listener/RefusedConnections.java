// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells clients why their connections are refused. When a socket is closed while its client still sends, the response
 * may be lost; so the server goes on reading for a moment from some refused clients at a time, and closes the others at
 * once. Thread-safe.
 */
final class RefusedConnections {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedConnections.class);

    /** Refused clients that are read from at the same time. */
    private static final int AT_A_TIME = 64;

    private static final Duration LINGER = Duration.ofMillis(500);
    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final int SCRATCH_BYTES = 4 * 1024;

    private final Semaphore lingering = new Semaphore(AT_A_TIME);

    /**
     * Sends {@code response}, which a socket's buffer has room for, and closes the channel, now or in a moment; waits for
     * nothing.
     */
    void refuse(SocketChannel channel, byte[] response) {
        try {
            channel.configureBlocking(false);
            if (response.length > 0) {
                channel.write(ByteBuffer.wrap(response));
                channel.shutdownOutput();
                if (lingering.tryAcquire()) {
                    Thread.ofVirtual().name("refused-connection").start(() -> linger(channel));
                    return;
                }
            }
        } catch (IOException e) {
            LOG.trace("a client does not hear why it is refused", e);
        }
        close(channel);
    }

    private void linger(SocketChannel channel) {
        try {
            ByteBuffer scratch = ByteBuffer.allocate(SCRATCH_BYTES);
            long end = System.nanoTime() + LINGER.toNanos();
            int count = 0;
            while (count >= 0 && System.nanoTime() < end) {
                count = channel.read(scratch.clear());
                if (count == 0) {
                    LockSupport.parkNanos(this, PAUSE.toNanos());
                }
            }
        } catch (IOException e) {
            LOG.trace("a refused client left", e);
        } finally {
            close(channel);
            lingering.release();
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }
}
