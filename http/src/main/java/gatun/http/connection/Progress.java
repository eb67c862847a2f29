package gatun.http.connection;

import java.time.Duration;

/** Since when a connection waits for its client. Written by the connection's thread, read by any. */
final class Progress {
    /** Stands for "the server is at work, not the client". */
    private static final long AT_WORK = 0;

    /** A {@link System#nanoTime} reading, or {@link #AT_WORK}. */
    private volatile long waitingSince = now();

    /** Whether some of a request's head has come, and not all. For the connection's thread. */
    private boolean amidHead;

    /** The client is waited for from now on. */
    void waits() {
        waitingSince = now();
    }

    /** The client is waited for, to begin a request or to go on with its head: for that it has as much time in all as for silence. */
    void waitsForHead() {
        if (!amidHead) {
            waits();
        }
    }

    /** Some of a request's head has come. */
    void tookOfHead() {
        waitsForHead();
        amidHead = true;
    }

    /** The client has done its part for now. */
    void works() {
        amidHead = false;
        waitingSince = AT_WORK;
    }

    /** How long the client has been waited for; zero while the server is at work. */
    Duration waiting() {
        long since = waitingSince;
        return since == AT_WORK ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    }

    private static long now() {
        // The lowest bit keeps it from being AT_WORK by chance.
        return System.nanoTime() | 1;
    }
}
