// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.wire.WireCursor;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/** Reads protobuf by a window, not a mapping: a file cut off is an error, not a fault. Used by one thread. */
final class FileCursor extends WireCursor {
    private static final int WINDOW = 8192;

    /** Messages of all kinds. A large language model has some ten thousand. */
    private static final int MAX_MESSAGES = 500_000;

    /** All bytes that are read one by one, so that a file of tiny fields ends: 256 MiB. */
    private static final long MAX_BYTES = 256L << 20;

    /** All names, which stay on the heap, in bytes: 64 MiB. */
    private static final long MAX_NAMES_BYTES = 64L << 20;

    /** What a name takes on the heap beside its text. */
    private static final int NAME_BYTES = 48;

    private static final int MAX_NAME_BYTES = 4096;

    /** The most characters of a name that people are shown. */
    private static final int MAX_DISPLAYED = 100;

    private final FileChannel file;
    private final ByteBuffer window = ByteBuffer.allocate(WINDOW);
    private long windowStart;
    private int messageCount;
    private long byteCount;
    private long namesByteCount;

    FileCursor(FileChannel file) throws IOException {
        super(0, file.size());
        this.file = file;
        window.limit(0);
    }

    @Override
    protected int nextByte() {
        if (++byteCount > MAX_BYTES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        return byteAt(at++) & 0xff;
    }

    @Override
    protected void pass(long count) {
        at += count;
    }

    @Override
    public RuntimeException malformed(String problem) {
        return new UnreadableGraphException("the graph's file is not one of ONNX: " + problem);
    }

    private byte byteAt(long position) {
        if (position < windowStart || position >= windowStart + window.limit()) {
            fill(position);
        }
        return window.get((int) (position - windowStart));
    }

    private void fill(long position) {
        try {
            window.clear();
            if (file.read(window, position) < 1) {
                window.clear().limit(0);
                throw new EOFException("it ends at byte " + position);
            }
            window.flip();
            windowStart = position;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a nested message, or what else begins with its length; what {@code reading} leaves is passed over. */
    void message(Runnable reading) {
        if (++messageCount > MAX_MESSAGES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        long length = readLength();
        long outer = end;
        end = at + length;
        reading.run();
        at = end;
        end = outer;
    }

    /** Reads a nested message by {@link #message}; {@code field} reads or skips each field by its tag. */
    void fields(IntConsumer field) {
        message(() -> {
            while (hasMore()) {
                field.accept(tag());
            }
        });
    }

    /** A name, a character for each byte, so that invalid UTF-8 stays apart; {@link #text} gives the text. */
    String name() {
        long length = readLength();
        namesByteCount += length + NAME_BYTES;
        if (length > MAX_NAME_BYTES || namesByteCount > MAX_NAMES_BYTES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        return new String(bytes((int) length), StandardCharsets.ISO_8859_1);
    }

    /** The first bytes of a length-delimited value, at most {@code count}; moves on to its end. */
    byte[] beginning(int count) {
        long length = readLength();
        long after = at + length;
        byte[] bytes = bytes((int) Math.min(length, count));
        at = after;
        return bytes;
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) nextByte();
        }
        return bytes;
    }

    static String text(String name) {
        return new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** A name as people read it: short, and without control characters. */
    static String display(String name) {
        String text = text(name).replaceAll("\\p{C}", "?");
        return text.length() <= MAX_DISPLAYED ? text : text.substring(0, MAX_DISPLAYED) + "...";
    }
}
