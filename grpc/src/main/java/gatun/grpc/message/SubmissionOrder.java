// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that requests reach their models in the order in which their stream brought them, though each has a thread
 * of its own. Used by the one thread that reads the stream.
 */
final class SubmissionOrder {
    /** The turn of one request. Awaited by the request's thread, which ends it. */
    static final class Turn {
        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable Turn previous;

        private Turn(@Nullable Turn previous) {
            this.previous = previous;
        }

        /** Waits until the request before has been submitted, or has failed; it never waits for a response. */
        void await() {
            Turn before = previous;
            if (before == null) {
                return;
            }
            previous = null; // so that a long stream keeps no chain of turns
            boolean interrupted = false;
            while (true) {
                try {
                    before.ended.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        /** Lets the next request go, though not past those before this one; may be called again. */
        void end() {
            await();
            ended.countDown();
        }
    }

    private @Nullable Turn last;

    /** The turn of the next message. */
    Turn next() {
        Turn turn = new Turn(last);
        last = turn;
        return turn;
    }
}
