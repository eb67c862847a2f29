// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The messages that a call's client got, and the call's status. */
public final class ReceivedMessages<T> implements StreamObserver<T> {
    private static final int LIMIT_SECONDS = 20;

    private final BlockingQueue<T> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();

    /** Nothing yet. */
    public ReceivedMessages() {}

    @Override
    public void onNext(T message) {
        messages.add(message);
    }

    @Override
    public void onError(Throwable failure) {
        end.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
        end.complete(Status.OK);
    }

    /** The next message, which must come soon. */
    public T next() throws InterruptedException {
        T message = messages.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(message).as("a message within %d s", LIMIT_SECONDS).isNotNull();
        return message;
    }

    /** Whether every message that came was asked for. */
    public boolean isEmpty() {
        return messages.isEmpty();
    }

    /** How the call ended, which must be soon. */
    public Status end() throws Exception {
        return end.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
