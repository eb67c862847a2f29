// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.ClientException;
import gatun.client.DeadlineException;
import gatun.client.MalformedResponseException;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Makes calls again that failed, as {@link Retries} tells. Stateless and safe for any thread. */
public final class Attempts {
    private Attempts() {}

    /**
     * Makes a call until it succeeds, fails for good, has been made often enough, or would have to wait beyond the
     * deadline; then its last exception is thrown.
     *
     * @param repeatable whether the server may do it twice
     * @throws UnreachableException also when the thread is interrupted in a pause; it stays interrupted
     */
    public static <T> T make(Retries retries, Deadline deadline, boolean repeatable, Supplier<T> call) {
        try {
            return call.get();
        } catch (ClientException e) {
            return makeAgain(retries, deadline, repeatable, e, call);
        }
    }

    /** As {@link #make}, of a call that was made once and failed by {@code first}. */
    public static <T> T makeAgain(
            Retries retries, Deadline deadline, boolean repeatable, ClientException first, Supplier<T> call) {
        ClientException failure = first;
        for (int attempt = 1; ; attempt++) {
            long pause =
                    pauseNanos(retries, attempt, ThreadLocalRandom.current().nextDouble());
            if (attempt >= retries.attempts()
                    || !mayBeRepeated(failure, repeatable)
                    || pause >= deadline.remainingNanos()
                    || Thread.currentThread().isInterrupted()) {
                throw failure;
            }
            pause(pause, failure);
            try {
                return call.get();
            } catch (ClientException e) {
                failure = e;
            }
        }
    }

    /** Whether such a failure may be gone next time, and the call does no harm when it is made again. */
    public static boolean mayBeRepeated(ClientException failure, boolean repeatable) {
        return switch (failure) {
            case ServerException refused -> refused.code() == StatusCode.UNAVAILABLE;
            case UnreachableException unreachable -> repeatable || !unreachable.mayHaveArrived();
            case DeadlineException late -> false;
            case MalformedResponseException malformed -> false;
        };
    }

    /** The pause after attempt {@code attempt}, from 1, which {@code chance}, from 0 to 1, shortens by up to a half. */
    static long pauseNanos(Retries retries, int attempt, double chance) {
        long longest = retries.longestPause().toNanos();
        long pause = retries.firstPause().toNanos();
        for (int i = 1; i < attempt && pause < longest; i++) {
            pause *= 2;
        }
        return (long) (Math.min(pause, longest) * (1 - chance / 2));
    }

    private static void pause(long nanos, ClientException failure) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(Attempts.class, left);
            if (Thread.currentThread().isInterrupted()) {
                throw new UnreachableException(
                        "the thread was interrupted before the call was made again that failed: "
                                + failure.getMessage(),
                        failure,
                        false);
            }
        }
    }
}
