// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Appends frames to a connection's next write. Used under the writer's lock. */
public final class FrameEncoder {
    /** HPACK's "the table has size 0 from now on", to be put in front of a connection's first block. */
    public static final byte TABLE_SIZE_ZERO = 0x20;

    /** The most bytes of a payload that are appended without making room first. */
    private static final int SMALL_PAYLOAD_SIZE = 16;

    private final WriteBatch batch;
    private int maxFrameSize = Http2.DEFAULT_MAX_FRAME_SIZE;
    private boolean tableSizeSent;

    /** PINGs of {@link #keepalive} since the last headers or message. */
    private int pings;

    /** Whether headers or a message went out since {@link #dataSent}; written under the lock and by its caller. */
    private volatile boolean dataSent;

    public FrameEncoder(WriteBatch batch) {
        this.batch = batch;
    }

    /** The largest frame that the client takes. */
    public void maxFrameSize(int byteSize) {
        maxFrameSize = byteSize;
    }

    /** A header block, in as many frames as the client's limit asks for. */
    public void headers(int streamId, byte[] block, boolean endStream) throws IOException {
        noteData();
        int extra = 0;
        if (!tableSizeSent) {
            // We never index, and say so once: then no change of the client's table size needs a response.
            tableSizeSent = true;
            extra = 1;
        }
        int type = Http2.HEADERS;
        int offset = 0;
        do {
            int length = Math.min(block.length - offset, maxFrameSize - extra);
            boolean last = offset + length == block.length;
            int flags = (last ? Http2.FLAG_END_HEADERS : 0)
                    | (endStream && type == Http2.HEADERS ? Http2.FLAG_END_STREAM : 0);
            frameHeader(type, length + extra, flags, streamId);
            if (extra == 1) {
                batch.putByte(TABLE_SIZE_ZERO);
                extra = 0;
            }
            batch.put(block, offset, length);
            offset += length;
            type = Http2.CONTINUATION;
        } while (offset < block.length);
    }

    /** The next {@code byteSize} bytes of a message, in as many frames as the client's limit asks for. */
    void data(int streamId, OutboundMessage message, int byteSize) throws IOException {
        noteData();
        int left = byteSize;
        while (left > 0) {
            int length = Math.min(left, maxFrameSize);
            frameHeader(Http2.DATA, length, 0, streamId);
            message.appendTo(batch, length);
            left -= length;
        }
    }

    /** RST_STREAM. */
    public void reset(int streamId, Http2Error error) throws IOException {
        frameHeader(Http2.RST_STREAM, Integer.BYTES, 0, streamId);
        batch.putInt(error.code());
    }

    public void windowUpdate(int streamId, int increment) throws IOException {
        frameHeader(Http2.WINDOW_UPDATE, Integer.BYTES, 0, streamId);
        batch.putInt(increment);
    }

    /** SETTINGS with a payload that is encoded already. */
    public void settings(byte[] payload) throws IOException {
        frameHeader(Http2.SETTINGS, payload.length, 0, 0);
        batch.put(payload, 0, payload.length);
    }

    /** The acknowledgement of the client's SETTINGS. */
    public void settingsAck() throws IOException {
        frameHeader(Http2.SETTINGS, 0, Http2.FLAG_ACK, 0);
    }

    /** PING, or its acknowledgement. */
    public void ping(long data, boolean ack) throws IOException {
        frameHeader(Http2.PING, Long.BYTES, ack ? Http2.FLAG_ACK : 0, 0);
        batch.putInt((int) (data >>> Integer.SIZE));
        batch.putInt((int) data);
    }

    /** Sends a PING, unless {@code limit} of them, 0 for any, went out since headers or a message; whether it does. */
    public boolean keepalive(long data, int limit) throws IOException {
        if (limit > 0 && pings >= limit) {
            return false;
        }
        pings++;
        ping(data, false);
        return true;
    }

    /** Whether headers or a message went out since this was asked the last time. One thread asks, without the lock. */
    boolean dataSent() {
        boolean sent = dataSent;
        if (sent) {
            dataSent = false;
        }
        return sent;
    }

    private void noteData() {
        pings = 0;
        if (!dataSent) {
            dataSent = true;
        }
    }

    /** GOAWAY. */
    public void goAway(int lastStreamId, Http2Error error, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        frameHeader(Http2.GOAWAY, 2 * Integer.BYTES + bytes.length, 0, 0);
        batch.putInt(lastStreamId);
        batch.putInt(error.code());
        batch.put(bytes, 0, bytes.length);
    }

    private void frameHeader(int type, int length, int flags, int streamId) throws IOException {
        batch.ensure(Http2.FRAME_HEADER_SIZE + SMALL_PAYLOAD_SIZE);
        batch.putInt(length << 8 | type);
        batch.putByte((byte) flags);
        batch.putInt(streamId);
    }
}
