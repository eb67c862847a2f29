// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ClientException;
import gatun.client.InferResponse;
import gatun.client.UnreachableException;
import gatun.client.calls.AsyncCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One inference asked of up to two servers: the first response is taken, and the other call cancelled. The request's
 * memory is free again when {@link #await} has returned. Not thread-safe.
 */
final class Hedge {
    private final List<AsyncCall> calls = new ArrayList<>(2);
    private final BlockingQueue<AsyncCall> ended = new LinkedBlockingQueue<>();

    /** Makes a call on a thread of its own. */
    void start(Supplier<InferResponse> call) {
        AsyncCall started = AsyncCall.start(call, "gatun-client-infer");
        calls.add(started);
        CompletableFuture<InferResponse> ignored = started.whenComplete((response, failure) -> ended.add(started));
    }

    boolean hasEndedWithin(Duration time) {
        try {
            AsyncCall first = ended.poll(time.toNanos(), TimeUnit.NANOSECONDS);
            return first != null && ended.add(first);
        } catch (InterruptedException e) {
            throw giveUp(e);
        }
    }

    /** The first response, or the first failure. When the thread is interrupted, it stays so, and this throws. */
    InferResponse await() {
        CompletionException firstFailure = null;
        for (int left = calls.size(); left > 0; left--) {
            AsyncCall next;
            try {
                next = ended.take();
            } catch (InterruptedException e) {
                throw giveUp(e);
            }
            try {
                InferResponse response = next.join();
                calls.remove(next);
                cancelAll();
                return response;
            } catch (CompletionException e) {
                firstFailure = firstFailure == null ? e : firstFailure;
            }
        }
        if (firstFailure == null) {
            throw new IllegalStateException("no call was started");
        }
        if (firstFailure.getCause() instanceof ClientException failure) {
            throw failure;
        }
        throw firstFailure.getCause() instanceof RuntimeException failure ? failure : firstFailure;
    }

    private UnreachableException giveUp(InterruptedException e) {
        cancelAll();
        Thread.currentThread().interrupt();
        return new UnreachableException("the thread was interrupted while it waited for a response", e);
    }

    private void cancelAll() {
        for (AsyncCall call : calls) {
            if (!call.cancel(true) && !call.isCompletedExceptionally()) {
                // It was answered in between.
                call.join().close();
            }
        }
    }
}
