// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads frames from a pipe, one after the other into memory that it keeps. For one thread at a time. */
final class FrameInput implements AutoCloseable {
    /** The longest frame: it lies on the heap, and what a broken process says may be anything. */
    private static final int LARGEST_FRAME = 16 << 20;

    private static final int USUAL_FRAME = 1 << 16;

    private final String sender;
    private final DataInputStream input;
    private byte[] bytes = new byte[4096];
    private int byteSize;

    /** Frames of a pipe, which this owns. {@code sender} says who writes them, for messages. */
    FrameInput(String sender, InputStream pipe) {
        this.sender = sender;
        input = new DataInputStream(pipe);
    }

    /** Reads the next frame; false at the end of the pipe. Throws INTERNAL for a length that no frame has. */
    boolean next() throws IOException {
        if (byteSize > USUAL_FRAME) {
            bytes = new byte[USUAL_FRAME];
        }
        long length = readLength();
        if (length < 0) {
            return false;
        }
        if (length == 0 || length > LARGEST_FRAME) {
            throw new GatunException(
                    ErrorCode.INTERNAL, "the process of '" + sender + "' sent a frame of " + length + " bytes");
        }
        byteSize = (int) length;
        if (byteSize > bytes.length) {
            bytes = new byte[byteSize];
        }
        input.readFully(bytes, 0, byteSize);
        return true;
    }

    /** Whether some bytes of the next frame are there, or the end of the pipe, so that a read would begin at once. */
    boolean isReady() {
        try {
            return input.available() > 0;
        } catch (IOException e) {
            return true;
        }
    }

    int kind() {
        return bytes[0] & 0xFF;
    }

    /** The rest of the frame that was read; valid until the next is. */
    FrameReader body() {
        return new FrameReader(ByteBuffer.wrap(bytes, 1, byteSize - 1));
    }

    /** The length of the next frame; -1 at the end. */
    private long readLength() throws IOException {
        int first = input.read();
        return first < 0
                ? -1
                : first
                        | input.readUnsignedByte() << 8
                        | input.readUnsignedByte() << 16
                        | (long) input.readUnsignedByte() << 24;
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
