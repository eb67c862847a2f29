// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.InferResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A call on a virtual thread of its own. It completes, even when it is cancelled, no sooner than the call has let go of
 * its request's memory. A response that nobody waits for any more is closed. Safe for any thread.
 */
public final class AsyncCall extends CompletableFuture<InferResponse> {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private final Consumer<Thread> cancellation;
    private volatile boolean cancelled;

    private AsyncCall(Supplier<InferResponse> call, String name, Consumer<Thread> cancellation) {
        this.thread = Thread.ofVirtual().name(name).unstarted(() -> run(call));
        this.cancellation = cancellation;
    }

    /** Makes a call that an interrupt ends. */
    public static AsyncCall start(Supplier<InferResponse> call, String name) {
        return start(call, name, Thread::interrupt);
    }

    /** Makes a call. {@code cancellation} ends it early, given its thread. */
    public static AsyncCall start(Supplier<InferResponse> call, String name, Consumer<Thread> cancellation) {
        AsyncCall started = new AsyncCall(call, name, cancellation);
        started.thread.start();
        return started;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!isDone()) {
            cancelled = true;
            cancellation.accept(thread);
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
