// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Counts frames that cost a client nothing and us something; cuts off who sends too many in a second, far more than
 * clients need. {@link gatun.runtime.limits.WorkBudgets} counts calls thrown away. Used by the reading thread only.
 */
final class FloodGuard {
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
            Duration least =
                    calls || settings.withoutCalls() ? settings.clientPings().leastInterval() : WITHOUT_CALLS;
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
