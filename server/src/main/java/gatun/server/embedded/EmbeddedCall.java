// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.client.InferResponse;
import gatun.runtime.InferenceRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * An inference on a virtual thread. It completes, even when it is cancelled, no sooner than the engine has let go of
 * the request's memory: the caller may free that memory once the call is complete. Safe for any thread.
 */
final class EmbeddedCall extends CompletableFuture<InferResponse> {
    private final InferenceRequest request;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean cancelled;

    private EmbeddedCall(InferenceRequest request) {
        this.request = request;
    }

    /** Starts a virtual thread that runs {@code answer} for {@code request}. */
    static EmbeddedCall start(InferenceRequest request, Supplier<InferResponse> answer) {
        EmbeddedCall call = new EmbeddedCall(request);
        Thread.ofVirtual().name("embedded-infer").start(() -> call.run(answer));
        return call;
    }

    /** Gives the request up, and waits until its run has ended. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!isDone()) {
            cancelled = true;
            request.cancellation().cancel();
            awaitEnd();
        }
        return super.cancel(mayInterruptIfRunning);
    }

    private void run(Supplier<InferResponse> answer) {
        try {
            InferResponse response = answer.get();
            ended.countDown();
            if (!complete(response)) {
                response.close();
            }
        } catch (RuntimeException | Error e) {
            ended.countDown();
            if (cancelled) {
                super.cancel(true);
            } else {
                completeExceptionally(e);
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
