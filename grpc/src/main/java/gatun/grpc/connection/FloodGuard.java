// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.util.function.LongSupplier;

/**
 * Counts frames that cost a client nothing and us something, and cuts off who sends too many in a second. The limit is
 * far above the needs of clients. Calls that are thrown away are {@link gatun.runtime.limits.WorkBudgets} business. Used
 * by the reading thread only.
 */
final class FloodGuard {
    /** Frames of one kind that one second may bring. */
    static final int CONTROL_FRAMES_PER_SECOND = 10_000;

    private static final long SECOND_NANOS = 1_000_000_000L;

    private final LongSupplier nanoClock;
    private long secondBegan;
    private int controlFrames;

    /** A guard whose seconds are those of {@code nanoClock}. */
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
}
