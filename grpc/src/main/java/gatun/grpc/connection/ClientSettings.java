// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.streams.GrpcStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;

/** A client's settings; repeated ones wait for the writer as one. Used by the reading thread, and the writer. */
final class ClientSettings {
    /** Bytes of one setting: two of number, four of value. */
    private static final int ENTRY_SIZE = 6;

    /** SETTINGS frames that may wait for their acknowledgement. */
    private static final int WAITING_LIMIT = 100;

    private final FrameReader reader;
    private final FrameWriter writer;
    private final ConnectionEnd end;
    private final FloodGuard floods;
    private final Collection<GrpcStream> streams;
    private final FrameWriter.Control change = this::apply;
    private final AtomicInteger waiting = new AtomicInteger();

    // Written by the reading thread.
    private volatile long initialWindow = Http2.DEFAULT_WINDOW_SIZE;
    private volatile int maxFrameSize = Http2.DEFAULT_MAX_FRAME_SIZE;

    /** The settings until the client says otherwise; {@code end} is for those that a connection cannot go on with. */
    ClientSettings(
            FrameReader reader,
            FrameWriter writer,
            ConnectionEnd end,
            FloodGuard floods,
            Collection<GrpcStream> streams) {
        this.reader = reader;
        this.writer = writer;
        this.end = end;
        this.floods = floods;
        this.streams = streams;
    }

    static byte[] encode(int... numbersAndValues) {
        ByteBuffer payload = ByteBuffer.allocate(numbersAndValues.length / 2 * ENTRY_SIZE);
        for (int i = 0; i < numbersAndValues.length; i += 2) {
            payload.putShort((short) numbersAndValues[i]).putInt(numbersAndValues[i + 1]);
        }
        return payload.array();
    }

    /** Reads SETTINGS, applies and acknowledges them. Throws {@link ConnectionError} for malformed or too many ones. */
    void read() throws IOException {
        boolean ack = reader.has(Http2.FLAG_ACK);
        reader.requireSize(reader.length() % ENTRY_SIZE == 0 && (!ack || reader.length() == 0));
        reader.requireConnection();
        if (ack) {
            return;
        }
        floods.controlFrames(reader.length() / ENTRY_SIZE);
        for (int left = reader.length(); left > 0; left -= ENTRY_SIZE) {
            int setting = reader.readShort();
            apply(setting, Integer.toUnsignedLong(reader.readInt()));
        }
        int before = waiting.getAndIncrement();
        if (before == 0) {
            writer.enqueue(change);
        } else if (before >= WAITING_LIMIT) {
            throw new ConnectionError(
                    Http2Error.ENHANCE_YOUR_CALM, "more than " + WAITING_LIMIT + " SETTINGS wait to be acknowledged");
        }
    }

    /** Applies the client's latest settings. Under the writer's lock. */
    private void apply(FrameWriter w) throws IOException {
        int acknowledged = waiting.getAndSet(0);
        long before = w.initialWindow();
        long now = initialWindow;
        w.frames().maxFrameSize(maxFrameSize);
        if (now != before) {
            w.initialWindow(now);
            if (streams.stream().anyMatch(stream -> stream.sendWindow() > Http2.LARGEST_WINDOW_SIZE)) {
                end.fail(
                        w,
                        Http2Error.FLOW_CONTROL_ERROR,
                        "settings make the window of a stream exceed what HTTP/2 allows");
                return;
            }
            if (now > before) {
                streams.forEach(GrpcStream::wakeToSend);
            }
        }
        for (int i = 0; i < acknowledged; i++) {
            w.frames().settingsAck();
        }
    }

    private void apply(int setting, long value) {
        switch (setting) {
            case Http2.SETTINGS_INITIAL_WINDOW_SIZE -> {
                if (value > Http2.LARGEST_WINDOW_SIZE) {
                    throw new ConnectionError(
                            Http2Error.FLOW_CONTROL_ERROR, "an initial window of " + value + " bytes");
                }
                initialWindow = value;
            }
            case Http2.SETTINGS_MAX_FRAME_SIZE -> {
                if (value < Http2.DEFAULT_MAX_FRAME_SIZE || value > Http2.LARGEST_MAX_FRAME_SIZE) {
                    throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "a largest frame of " + value + " bytes");
                }
                maxFrameSize = (int) value;
            }
            case Http2.SETTINGS_ENABLE_PUSH -> {
                if (value > 1) {
                    throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "ENABLE_PUSH of " + value);
                }
            }
            default -> {
                // The table size does not matter to an encoder that has no table; unknown settings must be ignored.
            }
        }
    }
}
