// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.InferResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * A call on a virtual thread of its own. Cancelling it interrupts that thread, and comes back when the call has let go
 * of its request's memory. A response that nobody waits for any more is closed.
 */
public final class AsyncCall extends CompletableFuture<InferResponse> {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean cancelled;

    private AsyncCall(Supplier<InferResponse> call, String name) {
        thread = Thread.ofVirtual().name(name).unstarted(() -> run(call));
    }

    /** Makes a call that an interrupt ends. */
    public static AsyncCall start(Supplier<InferResponse> call, String name) {
        AsyncCall started = new AsyncCall(call, name);
        started.thread.start();
        return started;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!isDone()) {
            cancelled = true;
            thread.interrupt();
            awaitEnd();
        }
        return super.cancel(mayInterruptIfRunning);
    }

    private void run(Supplier<InferResponse> call) {
        try {
            InferResponse response = call.get();
            ended.countDown();
            if (!complete(response)) {
                response.close();
            }
        } catch (Throwable t) {
            ended.countDown();
            if (cancelled) {
                super.cancel(true);
            } else {
                completeExceptionally(t);
            }
        }
    }

    private void awaitEnd() {
        boolean interrupted = false;
        while (true) {
            try {
                ended.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
