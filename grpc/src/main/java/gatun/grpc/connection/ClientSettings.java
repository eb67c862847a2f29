// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.streams.GrpcStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

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

    /**
     * Counts frames that cost a client nothing and us something; cuts off who sends too many in a second, far more than
     * clients need. {@link gatun.runtime.limits.WorkBudgets} counts calls thrown away. Used by the reading thread only.
     */
    static final class FloodGuard {
        /** Frames of one kind that one second may bring. */
        static final int CONTROL_FRAMES_PER_SECOND = 10_000;

        private static final long SECOND_NANOS = 1_000_000_000L;

        private final LongSupplier nanoClock;
        private long secondBegan;
        private int controlFrames;

        FloodGuard(LongSupplier nanoClock) {
            this.nanoClock = nanoClock;
            this.secondBegan = nanoClock.getAsLong();
        }

        /** A frame that is cheap for its client came: PING, PRIORITY, unknown, nearly empty, or of an ended stream. */
        void controlFrame() {
            controlFrames(1);
        }

        /** The same for a frame that counts as {@code count} frames. */
        void controlFrames(int count) {
            controlFrames += count;
            if (controlFrames > CONTROL_FRAMES_PER_SECOND && !newSecond()) {
                throw new ConnectionError(
                        Http2Error.ENHANCE_YOUR_CALM,
                        "more than " + CONTROL_FRAMES_PER_SECOND + " control frames in a second");
            }
        }

        private boolean newSecond() {
            long now = nanoClock.getAsLong();
            if (now - secondBegan < SECOND_NANOS) {
                return false;
            }
            secondBegan = now;
            controlFrames = 0;
            return true;
        }

        /**
         * Counts PINGs that come too early, and cuts off who sends too many: each costs a response and wakes radios. After
         * data was sent a client may PING anew, to measure the bandwidth. Used by the reading thread only.
         */
        static final class PingStrikes {
            /** The text that gRPC's clients look for: they PING less often when they read it. */
            static final String TOO_MANY_PINGS = "too_many_pings";

            /** How long a client must wait without calls, unless it need not have any. */
            private static final Duration WITHOUT_CALLS = Duration.ofHours(2);

            private final KeepaliveSettings settings;
            private final LongSupplier nanoClock;
            private boolean pingedBefore;
            private long lastNanos;
            private int strikes;

            PingStrikes(KeepaliveSettings settings, LongSupplier nanoClock) {
                this.settings = settings;
                this.nanoClock = nanoClock;
            }

            /** A PING came; {@code dataSent} if headers or messages were sent since the last one. */
            void ping(boolean dataSent, boolean calls) {
                long now = nanoClock.getAsLong();
                Duration least = calls || settings.withoutCalls()
                        ? settings.clientPings().leastInterval()
                        : WITHOUT_CALLS;
                if (dataSent) {
                    strikes = 0;
                } else if (pingedBefore && now - lastNanos < least.toNanos()) {
                    strikes++;
                    if (settings.clientPings().strikes() > 0
                            && strikes > settings.clientPings().strikes()) {
                        throw new ConnectionError(Http2Error.ENHANCE_YOUR_CALM, TOO_MANY_PINGS);
                    }
                }
                pingedBefore = true;
                lastNanos = now;
            }
        }
    }
}
