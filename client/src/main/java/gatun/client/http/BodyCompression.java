// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.Compression;
import gatun.client.MalformedResponseException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/** Compressed bodies. Stateless and safe for any thread. */
final class BodyCompression {
    private static final int PIECE_BYTES = 8 << 10;

    private BodyCompression() {}

    /** A stream that compresses into {@code target}; closing it completes the data and leaves the target open. */
    static OutputStream compressing(Compression compression, GrowingBuffer target) throws IOException {
        OutputStream open = new OpenStream(target);
        return switch (compression) {
            case GZIP -> new GZIPOutputStream(open, PIECE_BYTES);
            case DEFLATE -> new DeflaterOutputStream(open);
            case NONE -> open;
        };
    }

    /** Decompresses a body to its end, or until it has more than {@code limit} bytes. */
    static void copy(ResponseHead.Encoding encoding, ResponseBody body, GrowingBuffer target, long limit)
            throws IOException {
        InputStream raw = new BodyStream(body);
        byte[] piece = new byte[PIECE_BYTES];
        try (InputStream plain = encoding == ResponseHead.Encoding.GZIP
                ? new GZIPInputStream(raw, PIECE_BYTES)
                : new InflaterInputStream(raw)) {
            for (int count = plain.read(piece); count >= 0; count = plain.read(piece)) {
                target.write(piece, 0, count);
                if (target.byteSize() > limit) {
                    return;
                }
            }
            // Bytes after the end of the compressed data, mostly the empty last chunk.
            while (raw.read(piece) >= 0) {
                // Nothing is there to be kept.
            }
        } catch (ZipException e) {
            throw new MalformedResponseException("its body is not compressed as its head says: " + e.getMessage(), e);
        } catch (EOFException e) {
            if (body.isComplete()) {
                throw new MalformedResponseException("its compressed body ends too early", e);
            }
            throw e;
        }
    }

    /** A body as a stream. */
    private static final class BodyStream extends InputStream {
        private final ResponseBody body;

        BodyStream(ResponseBody body) {
            this.body = body;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return length == 0 ? 0 : body.read(ByteBuffer.wrap(target, offset, length));
        }
    }

    /** A buffer that stays open when the stream that compresses into it is closed. */
    private static final class OpenStream extends OutputStream {
        private final GrowingBuffer target;

        OpenStream(GrowingBuffer target) {
            this.target = target;
        }

        @Override
        public void write(int letter) {
            target.write(letter);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            target.write(bytes, offset, length);
        }
    }
}
