// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Decompresses gzip data, RFC 1952, of any number of members. {@link java.util.zip.GZIPInputStream} calls itself for each
 * member without content, so that a peer who sends many of them overflows its stack. Not thread-safe.
 */
public final class GzipInput extends InputStream {
    private static final int MAGIC = 0x8B1F;
    private static final int HEADER_CRC = 1 << 1;
    private static final int EXTRA = 1 << 2;
    private static final int NAME = 1 << 3;
    private static final int COMMENT = 1 << 4;

    private final InputStream source;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    private final byte[] packed;
    private int at;
    private int limit;
    private boolean ended;

    /** Reads the first member's header. Throws {@link ZipException} when the data is not gzip. */
    public GzipInput(InputStream source, int bufferSize) throws IOException {
        this.source = source;
        this.packed = new byte[bufferSize];
        try {
            if (!readHeader()) {
                throw new ZipException("it does not begin as gzip data do, with 1F 8B");
            }
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (!ended) {
            int count = inflate(target, offset, length);
            if (count > 0) {
                crc.update(target, offset, count);
                return count;
            }
            if (inflater.finished()) {
                readTrailer();
                ended = !readHeader();
            } else if (!fill()) {
                throw new EOFException("the gzip data end within a member");
            }
        }
        return -1;
    }

    private int inflate(byte[] target, int offset, int length) throws IOException {
        inflater.setInput(packed, at, limit - at);
        try {
            int count = inflater.inflate(target, offset, length);
            at = limit - inflater.getRemaining();
            return count;
        } catch (DataFormatException e) {
            throw new ZipException("damaged gzip data: " + e.getMessage());
        }
    }

    /** Begins the next member; false where what follows is none, which is passed over. */
    private boolean readHeader() throws IOException {
        inflater.reset();
        crc.reset();
        for (int magic = MAGIC; magic != 0; magic >>>= 8) {
            if ((at == limit && !fill()) || read8() != (magic & 0xFF)) {
                return false;
            }
        }
        int method = read8();
        if (method != 8) {
            throw new ZipException("compression method " + method + " of gzip; expected 8, deflate");
        }
        int flags = read8();
        skip(6); // the time, and how and where it was compressed
        if ((flags & EXTRA) != 0) {
            skip(read16());
        }
        if ((flags & NAME) != 0) {
            skipText();
        }
        if ((flags & COMMENT) != 0) {
            skipText();
        }
        if ((flags & HEADER_CRC) != 0) {
            skip(2);
        }
        return true;
    }

    private void readTrailer() throws IOException {
        long expected = read16() | (long) read16() << 16;
        long size = read16() | (long) read16() << 16;
        if (expected != crc.getValue() || size != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
            throw new ZipException("damaged gzip data: checksum or length does not match");
        }
    }

    private void skip(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            read8();
        }
    }

    private void skipText() throws IOException {
        while (read8() != 0) {
            // its end is a zero
        }
    }

    private int read16() throws IOException {
        return read8() | read8() << 8;
    }

    private int read8() throws IOException {
        if (at == limit && !fill()) {
            throw new EOFException("the gzip data end within a header");
        }
        return packed[at++] & 0xFF;
    }

    private boolean fill() throws IOException {
        at = 0;
        limit = Math.max(0, source.read(packed));
        return limit > 0;
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        source.close();
    }
}
