// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Counts the PINGs that come earlier than allowed, and cuts off a client that sends too many: each costs a response,
 * and wakes radios and processors. After data was sent the client may PING anew, since it may measure the bandwidth.
 * Used by the reading thread only.
 */
final class PingStrikes {
    /** The text that gRPC's clients look for: they PING less often when they read it. */
    static final String TOO_MANY_PINGS = "too_many_pings";

    /** How long a client must wait without calls, unless it need not have any. */
    private static final Duration WITHOUT_CALLS = Duration.ofHours(2);

    private final KeepaliveSettings settings;
    private final LongSupplier nanoClock;
    private boolean pingedBefore;
    private long lastNanos;
    private int strikes;

    /** A count by the time of {@code nanoClock}. */
    PingStrikes(KeepaliveSettings settings, LongSupplier nanoClock) {
        this.settings = settings;
        this.nanoClock = nanoClock;
    }

    /**
     * A PING came.
     *
     * @param dataSent whether headers or messages were sent since the last one
     * @param calls whether a call runs
     */
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
