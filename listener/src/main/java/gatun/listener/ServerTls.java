// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS for a server, versions 1.2 and 1.3. Files that are replaced while the server runs are read again for the
 * connections that follow; while they cannot be used, the last good ones are. Safe for any thread.
 */
public final class ServerTls {
    private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

    /** The shortest time between two looks at the files. */
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

    /** Sessions of TLS 1.2 that are remembered for resumption; others are in clients' tickets. */
    private static final int REMEMBERED_SESSIONS = 1024;

    /** Room for a record, which has 16 KiB of data and its protection, and for some bytes of the next. */
    private static final int BUFFER_BYTES = 20 * 1024;

    private final TlsFiles files;
    private final TlsHandshakes handshakes;
    private final IoBuffers buffers = new IoBuffers(BUFFER_BYTES);
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private List<Object> stamps;

    // Written under the lock, read anywhere.
    private volatile SSLContext context;
    private volatile long lookedNanos;

    private ServerTls(TlsFiles files, Duration handshakeLimit) {
        this.files = files;
        this.handshakes = new TlsHandshakes(handshakeLimit);
        // Before the files are read: a change in between is seen at the next look.
        this.stamps = files.stamps();
        this.context = read();
        this.lookedNanos = System.nanoTime();
    }

    /** TLS with the contents of {@code files}. Throws {@link TlsException} naming the flag of an unusable one. */
    public static ServerTls load(TlsFiles files) {
        return new ServerTls(files, TlsHandshakes.STANDARD_LIMIT);
    }

    /** The same, where a client may take as long as {@code handshakeLimit} for its handshake. */
    public static ServerTls load(TlsFiles files, Duration handshakeLimit) {
        return new ServerTls(files, handshakeLimit);
    }

    /** TLS on a new connection of which {@code early} was read already; {@code protocols} as for {@link #newEngine}. */
    public TlsTransport transport(SocketChannel channel, byte[] early, String... protocols) {
        return new TlsTransport(channel, early, newEngine(protocols), buffers, handshakes);
    }

    /**
     * An engine for one new connection, with its protocols in ALPN's names, best first; a client that asks for others
     * only is refused.
     */
    public SSLEngine newEngine(String... protocols) {
        SSLEngine engine = context().createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(VERSIONS);
        parameters.setUseCipherSuitesOrder(true);
        parameters.setApplicationProtocols(protocols);
        if (files.clientRoots().isPresent()) {
            parameters.setNeedClientAuth(true);
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** Reads the files now. While they cannot be used, the last good ones are, and the log says why. */
    public void reload() {
        lock.lock();
        try {
            lookedNanos = System.nanoTime();
            stamps = files.stamps();
            readAnew();
        } finally {
            lock.unlock();
        }
    }

    private SSLContext context() {
        if (System.nanoTime() - lookedNanos > LOOK_INTERVAL.toNanos() && lock.tryLock()) {
            try {
                lookedNanos = System.nanoTime();
                readAnewIfChanged();
            } finally {
                lock.unlock();
            }
        }
        return context;
    }

    private SSLContext read() {
        SSLContext read = files.read();
        read.getServerSessionContext().setSessionCacheSize(REMEMBERED_SESSIONS);
        return read;
    }

    private void readAnewIfChanged() {
        List<Object> now = files.stamps();
        if (now.equals(stamps)) {
            return;
        }
        stamps = now;
        readAnew();
    }

    private void readAnew() {
        try {
            context = read();
            LOG.info(
                    "New connections are served with the certificate now in {}",
                    files.certificate().path());
        } catch (TlsException e) {
            LOG.error("{}; the certificate from before is used on", e.getMessage());
        }
    }
}
