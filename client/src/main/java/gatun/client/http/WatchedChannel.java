// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.calls.Deadline;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A channel that is closed when its call takes too long. Owns the channel. One thread calls; any may close. */
final class WatchedChannel {
    /** No call with a deadline runs. */
    private static final long UNWATCHED = 0;
    /** The call took too long. Even, as {@link #UNWATCHED}; times are made odd. */
    private static final long EXPIRED = 2;

    private static final VarHandle DUE;

    static {
        try {
            DUE = MethodHandles.lookup().findVarHandle(WatchedChannel.class, "due", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SocketChannel channel;
    /** The deadline of the running call as an odd reading of the clock; or one of the two above. */
    private volatile long due = UNWATCHED;

    WatchedChannel(SocketChannel channel) {
        this.channel = channel;
    }

    SocketChannel channel() {
        return channel;
    }

    void begin(Deadline deadline) {
        due = deadline.isSet() ? deadline.at() | 1 : UNWATCHED;
    }

    /** Ends the call; returns whether it was in time, otherwise the channel is closed soon. */
    boolean end() {
        long now = due;
        return now == UNWATCHED || (now != EXPIRED && DUE.compareAndSet(this, now, UNWATCHED));
    }

    /** Whether the last call was ended by its deadline. */
    boolean hasExpired() {
        return due == EXPIRED;
    }

    /** The deadline of the call, an odd number; even when there is none. */
    long due() {
        return due;
    }

    void expire(long now) {
        long limit = due;
        if ((limit & 1) != 0 && limit - now <= 0 && DUE.compareAndSet(this, limit, EXPIRED)) {
            close();
        }
    }

    /** Whether the server has neither closed the connection nor sent anything unasked. Does not wait. */
    boolean isQuiet() {
        try {
            channel.configureBlocking(false);
            int read = channel.read(ByteBuffer.allocate(1));
            channel.configureBlocking(true);
            return read == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends a call that waits. Without TLS's own farewell, which could wait for a server that reads nothing. */
    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The connection is given up either way.
            return;
        }
    }
}
