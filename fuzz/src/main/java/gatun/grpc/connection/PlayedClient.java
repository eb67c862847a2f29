// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.fuzz.FuzzInput;
import gatun.grpc.frames.Http2;
import gatun.listener.Transport;
import gatun.listener.Transport.TransferredBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;

/** A client in memory: it sends given bytes, a few at a time, and leaves. Checks the frames that it gets. */
final class PlayedClient implements Transport {
    private static final int MAX_TYPE = Http2.CONTINUATION;

    /** Bytes sent without a request: settings, windows, and the reason for the end of a connection. */
    private static final int UNASKED_BYTES = 4096;

    /**
     * The most bytes of responses for each byte: a frame may refuse a call that its header block of one byte repeats.
     */
    private static final int ANSWERED_BYTES_PER_BYTE = 256;

    private final byte[] sent;
    private final int step;
    private final boolean reads;
    private final Runnable beforeEachRead;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private int position;

    /**
     * A client.
     *
     * @param step the most bytes that come at a time
     * @param reads whether it reads the bytes that it is sent
     * @param beforeEachRead run by the reading thread whenever it wants more
     */
    PlayedClient(byte[] sent, int step, boolean reads, Runnable beforeEachRead) {
        this.sent = sent;
        this.step = step;
        this.reads = reads;
        this.beforeEachRead = beforeEachRead;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        beforeEachRead.run();
        if (position == sent.length) {
            return -1;
        }
        if (closed.getCount() == 0) {
            throw new IOException("closed");
        }
        int count = Math.min(Math.min(step, target.remaining()), sent.length - position);
        target.put(sent, position, count);
        position += count;
        return count;
    }

    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        if (!reads) {
            awaitClose();
        }
        if (closed.getCount() == 0) {
            throw new IOException("closed");
        }
        byte[] bytes = new byte[sources[first].remaining()];
        sources[first].get(bytes);
        received.writeBytes(bytes);
    }

    private void awaitClose() throws IOException {
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public TransferredBytes transferred() {
        return new TransferredBytes();
    }

    @Override
    public void shutdownOutput() {
        // The client leaves anyhow.
    }

    @Override
    public void close() {
        closed.countDown();
    }

    /**
     * Requires the bytes that it got to be frames, and no more than it asked for; called when the connection is over.
     */
    void requireFrames() {
        FuzzInput.require(
                received.size() <= UNASKED_BYTES + (long) ANSWERED_BYTES_PER_BYTE * sent.length,
                received.size() + " bytes answer " + sent.length);
        ByteBuffer bytes = ByteBuffer.wrap(received.toByteArray());
        boolean first = true;
        while (bytes.remaining() >= Http2.FRAME_HEADER_SIZE) {
            int lengthAndType = bytes.getInt();
            int type = lengthAndType & 0xff;
            FuzzInput.require(type <= MAX_TYPE && type != Http2.PUSH_PROMISE, "a frame of type " + type);
            FuzzInput.require(
                    first == (type == Http2.SETTINGS) || bytes.get(bytes.position()) == Http2.FLAG_ACK,
                    "settings come first, once");
            first = false;
            bytes.position(bytes.position() + Http2.FRAME_HEADER_SIZE - Integer.BYTES);
            // The last frame is cut off when the connection was closed in the middle of a write.
            bytes.position(bytes.position() + Math.min(bytes.remaining(), lengthAndType >>> 8));
        }
    }
}
