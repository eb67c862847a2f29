package gatun.listener;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS as a server speaks it, versions 1.2 and 1.3. Files that are replaced while the server runs are read anew for the
 * connections that come then; while they cannot be used, the last good ones are. Safe for any thread.
 */
public final class ServerTls {
    private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

    /** How often the files are looked at, at most. */
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

    private final TlsFiles files;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private List<Object> stamps;

    // Written under the lock, read anywhere.
    private volatile SSLContext context;
    private volatile long lookedNanos;

    private ServerTls(TlsFiles files) {
        this.files = files;
        // Before the files are read: what is written in between is seen at the next look.
        this.stamps = files.stamps();
        this.context = files.read();
        this.lookedNanos = System.nanoTime();
    }

    /**
     * TLS with what is in {@code files}.
     *
     * @throws TlsException naming the flag of a file that cannot be used
     */
    public static ServerTls load(TlsFiles files) {
        return new ServerTls(files);
    }

    /**
     * An engine for one new connection.
     *
     * @param protocols what may be spoken over it, as ALPN names it, best first; a client that asks for others only is refused
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
            context = files.read();
            LOG.info(
                    "New connections are served with the certificate now in {}",
                    files.certificate().path());
        } catch (TlsException e) {
            LOG.error("{}; the certificate from before is used on", e.getMessage());
        }
    }
}
