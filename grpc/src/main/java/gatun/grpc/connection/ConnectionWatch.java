// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.calls.CallServices.DeadlineTimer;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.FrameWriter;
import gatun.listener.Transport;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Checks one connection by the clock: its greeting, life and age. On the timer's thread, never blocking. */
final class ConnectionWatch {
    /** The PING that asks whether the client is still there. */
    private static final long KEEPALIVE_PING = 0x676174756e000002L;

    private static final String TOO_OLD = "max_age";
    private static final long NEVER = Long.MAX_VALUE;

    /** Connections that began together do not all end together: their ages differ by so much to either side. */
    private static final double AGE_SPREAD = 0.1;

    private final KeepaliveSettings settings;
    private final DeadlineTimer timer;
    private final Transport transport;
    private final FrameWriter writer;
    private final ConnectionEnd end;
    private final BooleanSupplier calls;
    private final LongSupplier lastReadNanos;
    private final long beganNanos = System.nanoTime();

    /** Used by the timer's thread only. */
    private long ageDueIn;

    private volatile boolean greeted;
    private volatile boolean closed;

    /** When the PING was asked for that has no response yet, or 0. */
    private volatile long askedNanos;

    /** Calls off the next look. Written by the reading thread before the client has greeted, then by the timer's alone. */
    private volatile Runnable callOff = () -> {};

    /** A watch that begins with {@link #begin}; {@code lastReadNanos} is when the client's last frame came. */
    ConnectionWatch(
            KeepaliveSettings settings,
            DeadlineTimer timer,
            Transport transport,
            FrameWriter writer,
            ConnectionEnd end,
            BooleanSupplier calls,
            LongSupplier lastReadNanos) {
        this.settings = settings;
        this.timer = timer;
        this.transport = transport;
        this.writer = writer;
        this.end = end;
        this.calls = calls;
        this.lastReadNanos = lastReadNanos;
        this.ageDueIn = settings.age().most().map(ConnectionWatch::spread).orElse(NEVER);
    }

    private static long spread(Duration age) {
        return (long)
                (age.toNanos() * (1 + AGE_SPREAD * ThreadLocalRandom.current().nextDouble(-1, 1)));
    }

    void begin() {
        lookAgainIn(settings.patience().toNanos());
    }

    void greeted() {
        greeted = true;
        callOff.run();
        // Without a handle: this thread would store it over that of the look which the timer's thread plans meanwhile.
        timer.runAfter(Duration.ZERO, this::look);
    }

    /** The connection is gone: nobody looks any more. Any thread. */
    void close() {
        closed = true;
        callOff.run();
    }

    private void look() {
        if (closed) {
            return;
        }
        long now = System.nanoTime();
        if (!greeted) {
            end.giveUp("the client did not greet within " + settings.patience());
            return;
        }
        if (now - beganNanos >= ageDueIn) {
            ageDueIn = NEVER;
            end.drain(TOO_OLD);
            settings.age().grace().ifPresent(grace -> timer.runAfter(grace, transport::close));
        }
        long presence = presenceDueIn(now);
        if (presence > 0) {
            lookAgainIn(Math.min(presence, ageDueIn == NEVER ? NEVER : ageDueIn - (now - beganNanos)));
        }
    }

    /** Asks the client whether it is there, where it is time to. In how long to look again; 0 when it is gone. */
    private long presenceDueIn(long now) {
        long silent = now - lastReadNanos.getAsLong();
        long asked = askedNanos;
        if (asked != 0 && now - asked > silent) {
            // Whatever came since is a response.
            askedNanos = 0;
            asked = 0;
        }
        if (asked != 0) {
            long left = settings.pings().timeout().toNanos() - (now - asked);
            if (left <= 0) {
                end.giveUp("the client did not answer a PING within "
                        + settings.pings().timeout());
                return 0;
            }
            return left;
        }
        long left = settings.pings().time().toNanos() - silent;
        if (left > 0) {
            return left;
        }
        if (!calls.getAsBoolean() && !settings.withoutCalls()) {
            return settings.pings().time().toNanos();
        }
        askedNanos = now | 1;
        writer.enqueue(w -> {
            if (!w.frames().keepalive(KEEPALIVE_PING, settings.pings().withoutData())) {
                askedNanos = 0;
            }
        });
        return settings.pings().timeout().toNanos();
    }

    private void lookAgainIn(long nanos) {
        callOff.run();
        callOff = timer.runUnlessCalledOff(Duration.ofNanos(nanos), this::look);
        if (closed) {
            callOff.run();
        }
    }
}
