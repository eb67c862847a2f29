package gatun.listener;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS on a socket channel. What is large is decrypted straight to where it belongs and encrypted from where it lies. After the
 * handshake one thread reads while another writes; closing waits for neither.
 */
public final class TlsTransport implements SocketTransport {
    private static final Logger LOG = LoggerFactory.getLogger(TlsTransport.class);

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final ChannelTransport channel;
    private final SSLEngine engine;

    /** What was read and not decrypted yet, between position and limit; the reading thread's. */
    private final ByteBuffer cipherIn;

    /** What was decrypted and not taken yet, between position and limit; the reading thread's. */
    private final ByteBuffer plainIn;

    /** What was encrypted; the writing thread's. */
    private final ByteBuffer cipherOut;

    private final ByteBuffer[] cipherOutOnly;

    /** The reading thread's. */
    private boolean ended;

    /** Whether the reading thread waits for what the client has not sent yet. */
    private boolean waits = true;

    /** The most bytes that one record holds, decrypted and encrypted; set by the handshake, before anything is written. */
    private int plainSize;

    private int cipherSize;

    /**
     * TLS of {@code engine} on a channel from which {@code early} was read already.
     *
     * @param buffers where it takes its own from, until {@link #release}
     */
    public TlsTransport(SocketChannel channel, byte[] early, SSLEngine engine, IoBuffers buffers) {
        this.channel = new ChannelTransport(channel, early);
        this.engine = engine;
        this.cipherIn = buffers.take().limit(0);
        this.plainIn = buffers.take().limit(0);
        this.cipherOut = buffers.take();
        this.cipherOutOnly = new ByteBuffer[] {cipherOut};
    }

    @Override
    public Optional<SSLSession> open() throws IOException {
        try {
            engine.beginHandshake();
            HandshakeStatus status = engine.getHandshakeStatus();
            while (status != HandshakeStatus.NOT_HANDSHAKING && status != HandshakeStatus.FINISHED) {
                handshakeStep(status);
                status = engine.getHandshakeStatus();
            }
        } catch (SSLException e) {
            tellWhy();
            throw e;
        }
        plainSize = engine.getSession().getApplicationBufferSize();
        cipherSize = engine.getSession().getPacketBufferSize();
        return Optional.of(engine.getSession());
    }

    private void handshakeStep(HandshakeStatus status) throws IOException {
        switch (status) {
            case NEED_TASK -> engine.getDelegatedTask().run();
            case NEED_WRAP -> {
                engine.wrap(NOTHING, cipherOut.clear());
                flush();
            }
            default -> {
                if (unwrap(plainIn.clear()) < 0) {
                    throw new EOFException("the client left within the handshake");
                }
                plainIn.flip();
            }
        }
    }

    /** Sends the alert that says what was wrong with the handshake, as far as that is possible. */
    private void tellWhy() {
        try {
            while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                engine.wrap(NOTHING, cipherOut.clear());
                if (cipherOut.position() == 0) {
                    return;
                }
                flush();
            }
        } catch (IOException e) {
            LOG.trace("the client does not hear why", e);
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        while (!plainIn.hasRemaining()) {
            if (target.remaining() >= plainSize) {
                int count = unwrap(target);
                if (count != 0) {
                    return count;
                }
            } else {
                int count = unwrap(plainIn.clear());
                plainIn.flip();
                if (count < 0) {
                    return count;
                }
            }
        }
        return takeDecrypted(target);
    }

    @Override
    public int readNow(ByteBuffer target) throws IOException {
        if (plainIn.hasRemaining()) {
            return takeDecrypted(target);
        }
        waits = false;
        try {
            int count = unwrap(plainIn.clear());
            plainIn.flip();
            return count > 0 ? takeDecrypted(target) : count;
        } catch (IOException e) {
            plainIn.limit(0);
            throw e;
        } finally {
            waits = true;
        }
    }

    private int takeDecrypted(ByteBuffer target) {
        int count = Math.min(plainIn.remaining(), target.remaining());
        target.put(plainIn.slice(plainIn.position(), count));
        plainIn.position(plainIn.position() + count);
        return count;
    }

    /**
     * Decrypts one record to {@code target}, which has room for it; how many bytes it held, -1 when no more will come. 0 as well when the
     * record is not there yet and is not waited for.
     */
    private int unwrap(ByteBuffer target) throws IOException {
        while (!ended) {
            SSLEngineResult result = engine.unwrap(cipherIn, target);
            switch (result.getStatus()) {
                case OK -> {
                    refuseNewHandshake(result);
                    return result.bytesProduced();
                }
                case BUFFER_UNDERFLOW -> {
                    int count = fill();
                    if (count == 0) {
                        return 0;
                    }
                    ended = count < 0;
                }
                case CLOSED -> ended = true;
                case BUFFER_OVERFLOW ->
                    throw new IOException("a TLS record does not fit into " + target.capacity() + " bytes");
            }
        }
        return -1;
    }

    private int fill() throws IOException {
        cipherIn.compact();
        try {
            if (!cipherIn.hasRemaining()) {
                throw new IOException("a TLS record exceeds " + cipherIn.capacity() + " bytes");
            }
            return waits ? channel.read(cipherIn) : channel.readNow(cipherIn);
        } finally {
            cipherIn.flip();
        }
    }

    /** Encrypts as much as one buffer takes, and sends that. */
    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        cipherOut.clear();
        int next = first;
        while (next < end && cipherOut.remaining() >= cipherSize) {
            if (!sources[next].hasRemaining()) {
                next++;
                continue;
            }
            SSLEngineResult result = engine.wrap(sources, next, end - next, cipherOut);
            if (result.getStatus() != SSLEngineResult.Status.OK) {
                throw new IOException("nothing can be sent over TLS any more: " + result.getStatus());
            }
            refuseNewHandshake(result);
        }
        flush();
    }

    /** Writes what was encrypted and makes room. */
    private void flush() throws IOException {
        cipherOut.flip();
        channel.write(cipherOutOnly, 1);
        cipherOut.clear();
    }

    /** Another thread may be writing, and HTTP/2 allows no second handshake, which TLS 1.2 lets a client ask for. */
    private void refuseNewHandshake(SSLEngineResult result) throws IOException {
        if (plainSize > 0 && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            throw new IOException("the client began a second TLS handshake");
        }
    }

    /** The writing thread's, which is done then. */
    @Override
    public void shutdownOutput() {
        try {
            engine.closeOutbound();
            engine.wrap(NOTHING, cipherOut.clear());
            flush();
        } catch (IOException e) {
            LOG.trace("the client does not hear that TLS ends", e);
        }
        channel.shutdownOutput();
    }

    @Override
    public void shutdownInput() {
        channel.shutdownInput();
    }

    @Override
    public void close() {
        channel.close();
    }

    @Override
    public void release(IoBuffers buffers) {
        buffers.give(cipherIn);
        buffers.give(plainIn);
        buffers.give(cipherOut);
    }
}
