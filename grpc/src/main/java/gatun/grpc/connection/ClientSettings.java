package gatun.grpc.connection;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;

/** What the client said about itself in SETTINGS frames. The reading thread's alone. */
final class ClientSettings {
    /** Bytes of one setting: two of number, four of value. */
    private static final int ENTRY_SIZE = 6;

    private final FrameReader reader;
    private final FrameWriter writer;
    private final ConnectionEnd end;
    private long initialWindow = Http2.DEFAULT_WINDOW_SIZE;
    private int maxFrameSize = Http2.DEFAULT_MAX_FRAME_SIZE;

    /** The settings until the client says otherwise; {@code end} is for those that a connection cannot go on with. */
    ClientSettings(FrameReader reader, FrameWriter writer, ConnectionEnd end) {
        this.reader = reader;
        this.writer = writer;
        this.end = end;
    }

    /** A SETTINGS payload of numbers, each followed by its value. */
    static byte[] encode(int... numbersAndValues) {
        ByteBuffer payload = ByteBuffer.allocate(numbersAndValues.length / 2 * ENTRY_SIZE);
        for (int i = 0; i < numbersAndValues.length; i += 2) {
            payload.putShort((short) numbersAndValues[i]).putInt(numbersAndValues[i + 1]);
        }
        return payload.array();
    }

    /** What a stream that opens now may send at first. */
    long initialWindow() {
        return initialWindow;
    }

    /** Reads the present SETTINGS frame, lets it take effect for {@code streams} and what comes, and acknowledges it. */
    void read(Collection<GrpcStream> streams) throws IOException {
        boolean ack = reader.has(Http2.FLAG_ACK);
        reader.requireSize(reader.length() % ENTRY_SIZE == 0 && (!ack || reader.length() == 0));
        reader.requireConnection();
        if (ack) {
            return;
        }
        long windowBefore = initialWindow;
        for (int left = reader.length(); left > 0; left -= ENTRY_SIZE) {
            int setting = reader.readShort();
            apply(setting, Integer.toUnsignedLong(reader.readInt()));
        }
        long delta = initialWindow - windowBefore;
        int frameSize = maxFrameSize;
        List<GrpcStream> affected = delta == 0 ? List.of() : List.copyOf(streams);
        writer.control(w -> {
            w.frames().maxFrameSize(frameSize);
            affected.forEach(stream -> stream.moveSendWindow(delta));
            if (affected.stream().anyMatch(stream -> stream.sendWindow() > Http2.LARGEST_WINDOW_SIZE)) {
                end.fail(
                        w,
                        Http2Error.FLOW_CONTROL_ERROR,
                        "settings make the window of a stream exceed what HTTP/2 allows");
                return;
            }
            w.frames().settingsAck();
        });
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
                // The table size does not matter to an encoder that has no table; what is unknown must be ignored.
            }
        }
    }
}
