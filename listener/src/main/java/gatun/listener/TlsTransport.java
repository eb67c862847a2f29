// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.listener.Transport.SocketTransport;
import gatun.listener.Transport.TransferredBytes;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS on a socket channel. Large data is decrypted straight to where it belongs and encrypted from where it lies. After
 * the handshake one thread reads while another writes; closing waits for neither. A buffer is held only while there is
 * something in it: a connection that waits for its client holds a small one, and a large one once an incomplete record
 * has outgrown it.
 */
public final class TlsTransport implements SocketTransport {
    private static final Logger LOG = LoggerFactory.getLogger(TlsTransport.class);
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** The first read from a waiting client: room for a small request, or a step of the handshake. */
    private static final int FIRST_READ = 1024;

    private static final int RECORD_HEADER_SIZE = 5;
    private static final int LENGTH_OFFSET = 3;
    private static final int LEAST_TYPE = 20;
    private static final int GREATEST_TYPE = 24;
    private static final int MAJOR_VERSION = 3;
    private static final int LONGEST_RECORD = (16 + 2) * 1024;

    private final ChannelTransport channel;
    private final SSLEngine engine;
    private final IoBuffers buffers;
    private final TlsHandshakes handshakes;

    /** Bytes that were read and not decrypted yet, between position and limit; null for none. The reading thread's. */
    private @Nullable ByteBuffer cipherIn;

    /** Bytes that were decrypted and not taken yet, between position and limit; null for none. The reading thread's. */
    private @Nullable ByteBuffer plainIn;

    /** Read into when no undecrypted bytes are left, then {@link #cipherIn}: a record's start. The reading thread's. */
    private final ByteBuffer firstIn = ByteBuffer.allocate(FIRST_READ);

    /** Whether the bytes that were read and not decrypted lie in {@link #firstIn}. The reading thread's. */
    private boolean inFirst;

    /** The reading thread's. */
    private boolean ended;

    /** Whether the reading thread waits for bytes that the client has not sent yet. */
    private boolean waits = true;

    /** The most bytes of one record, decrypted and encrypted; set by the handshake, before anything is written. */
    private int plainSize;

    private int cipherSize;

    /** {@code early} was read already; {@code buffers} have room for a record each, {@link #release} returns them. */
    TlsTransport(SocketChannel channel, byte[] early, SSLEngine engine, IoBuffers buffers, TlsHandshakes handshakes) {
        this.channel = new ChannelTransport(channel, early);
        this.engine = engine;
        this.buffers = buffers;
        this.handshakes = handshakes;
    }

    @Override
    public Optional<SSLSession> open() throws IOException {
        TlsHandshakes.Handshake handshake = handshakes.begin(this::close);
        try {
            engine.beginHandshake();
            HandshakeStatus status = engine.getHandshakeStatus();
            while (status != HandshakeStatus.NOT_HANDSHAKING && status != HandshakeStatus.FINISHED) {
                handshakeStep(handshake, status);
                status = engine.getHandshakeStatus();
            }
        } catch (SSLException e) {
            tellWhy();
            throw e;
        } catch (ClosedChannelException e) {
            handshake.requireInTime(); // says why it was closed
            throw e;
        } finally {
            handshake.close();
        }
        plainSize = engine.getSession().getApplicationBufferSize();
        cipherSize = engine.getSession().getPacketBufferSize();
        return Optional.of(engine.getSession());
    }

    private void handshakeStep(TlsHandshakes.Handshake handshake, HandshakeStatus status) throws IOException {
        switch (status) {
            case NEED_TASK -> handshake.run(engine.getDelegatedTask());
            case NEED_WRAP -> wrapNothing();
            default -> {
                int count = decryptToPlain();
                giveBackEmpty();
                if (count < 0) {
                    throw new EOFException("the client left within the handshake");
                }
            }
        }
    }

    /** Sends TLS's own messages; false when there are none. */
    private boolean wrapNothing() throws IOException {
        ByteBuffer out = buffers.take();
        try {
            engine.wrap(NOTHING, out);
            boolean any = out.position() > 0;
            flush(out);
            return any;
        } finally {
            buffers.give(out);
        }
    }

    /** Sends the alert that says what was wrong with the handshake, as far as that is possible. */
    private void tellWhy() {
        try {
            while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                if (!wrapNothing()) {
                    return;
                }
            }
        } catch (IOException e) {
            LOG.trace("the client does not hear why", e);
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        try {
            while (plainIn == null || !plainIn.hasRemaining()) {
                int count = target.remaining() >= plainSize ? unwrap(target) : decryptToPlain();
                if (count < 0 || (count > 0 && plainIn == null)) {
                    return count;
                }
            }
            return takeDecrypted(target);
        } finally {
            giveBackEmpty();
        }
    }

    @Override
    public int readNow(ByteBuffer target) throws IOException {
        waits = false;
        try {
            if (plainIn == null) {
                int count = decryptToPlain();
                if (count <= 0) {
                    return count;
                }
            }
            return takeDecrypted(target);
        } finally {
            waits = true;
            giveBackEmpty();
        }
    }

    /** Decrypts one record to {@link #plainIn}, where it lies until it is taken; as {@link #unwrap}. */
    private int decryptToPlain() throws IOException {
        if (plainIn != null) {
            buffers.give(plainIn);
            plainIn = null;
        }
        // Before there is a record, no buffer is taken for what is in it.
        if (!hasRecord()) {
            return ended ? -1 : 0;
        }
        ByteBuffer plain = buffers.take();
        int count = 0;
        try {
            count = unwrap(plain);
            return count;
        } finally {
            if (count > 0) {
                plainIn = plain.flip();
            } else {
                buffers.give(plain);
            }
        }
    }

    private int takeDecrypted(ByteBuffer target) {
        ByteBuffer plain = Objects.requireNonNull(plainIn);
        int count = Math.min(plain.remaining(), target.remaining());
        target.put(plain.slice(plain.position(), count));
        plain.position(plain.position() + count);
        return count;
    }

    private void giveBackEmpty() {
        if (plainIn != null && !plainIn.hasRemaining()) {
            buffers.give(plainIn);
            plainIn = null;
        }
        if (cipherIn != null && !cipherIn.hasRemaining()) {
            giveBack(cipherIn);
        }
    }

    private void giveBack(ByteBuffer cipher) {
        if (!inFirst) {
            buffers.give(cipher);
        }
        cipherIn = null;
    }

    /** Decrypts one record to {@code target}, which fits it. Returns its size: 0 if empty or absent, -1 at the end. */
    private int unwrap(ByteBuffer target) throws IOException {
        while (hasRecord()) {
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
        return ended ? -1 : 0;
    }

    /** Waits for a record to decrypt. False at the end, or when there is none and nobody waits. */
    private boolean hasRecord() throws IOException {
        while (!ended && (cipherIn == null || isPart(cipherIn))) {
            int count = cipherIn == null ? readFirst() : fill();
            if (count == 0) {
                return false;
            }
            ended = count < 0;
        }
        return !ended;
    }

    /** Whether a record is incomplete. Other bytes, or too long ones, count as whole: the engine refuses. */
    private static boolean isPart(ByteBuffer in) {
        if (in.remaining() < RECORD_HEADER_SIZE) {
            return true;
        }
        int type = in.get(in.position());
        boolean record = type >= LEAST_TYPE && type <= GREATEST_TYPE && in.get(in.position() + 1) == MAJOR_VERSION;
        int length = in.getShort(in.position() + LENGTH_OFFSET) & 0xffff;
        return record && length <= LONGEST_RECORD && in.remaining() < RECORD_HEADER_SIZE + length;
    }

    /** Reads when nothing is left. Returns the count; -1 at the end; 0 for none without waiting. */
    private int readFirst() throws IOException {
        int count = readChannel(firstIn.clear());
        if (count > 0) {
            cipherIn = firstIn.flip();
            inFirst = true;
        }
        return count;
    }

    /** Reads more of a record of which a part is there; as {@link #readFirst}. */
    private int fill() throws IOException {
        ByteBuffer cipher = Objects.requireNonNull(cipherIn);
        if (inFirst && firstIn.remaining() == FIRST_READ) {
            cipher = buffers.take().put(firstIn);
            cipherIn = cipher;
            inFirst = false;
        } else {
            cipher.compact();
        }
        try {
            if (!cipher.hasRemaining()) {
                throw new IOException("a TLS record exceeds " + cipher.capacity() + " bytes");
            }
            return readChannel(cipher);
        } finally {
            cipher.flip();
        }
    }

    private int readChannel(ByteBuffer target) throws IOException {
        return waits ? channel.read(target) : channel.readNow(target);
    }

    /** Encrypts as much as one buffer takes, and sends that. */
    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        ByteBuffer out = buffers.take();
        try {
            int next = first;
            while (next < end && out.remaining() >= cipherSize) {
                if (!sources[next].hasRemaining()) {
                    next++;
                    continue;
                }
                SSLEngineResult result = engine.wrap(sources, next, end - next, out);
                if (result.getStatus() != SSLEngineResult.Status.OK) {
                    throw new IOException("nothing can be sent over TLS any more: " + result.getStatus());
                }
                refuseNewHandshake(result);
            }
            flush(out);
        } finally {
            buffers.give(out);
        }
    }

    private void flush(ByteBuffer out) throws IOException {
        out.flip();
        while (out.hasRemaining()) {
            channel.writeSome(out);
        }
    }

    /** Another thread may be writing, and HTTP/2 allows no second handshake, which TLS 1.2 lets a client ask for. */
    private void refuseNewHandshake(SSLEngineResult result) throws IOException {
        if (plainSize > 0 && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            throw new IOException("the client began a second TLS handshake");
        }
    }

    @Override
    public TransferredBytes transferred() {
        return channel.transferred();
    }

    /** For the writing thread, which is done then. */
    @Override
    public void shutdownOutput() {
        try {
            engine.closeOutbound();
            wrapNothing();
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
    public void release() {
        if (plainIn != null) {
            buffers.give(plainIn);
            plainIn = null;
        }
        if (cipherIn != null) {
            giveBack(cipherIn);
        }
    }
}
