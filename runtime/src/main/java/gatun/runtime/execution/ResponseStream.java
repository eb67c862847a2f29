// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The responses of a decoupled model to one request, from the instance's thread, which sends them, to the request's
 * thread, which gives them to the receiver. The instance waits while many are on their way. Owns those that wait.
 */
final class ResponseStream {
    /** How many responses may wait for the receiver. */
    static final int CAPACITY = 8;

    private final ResponseReceiver receiver;
    private final Duration patience;
    private final ResponseProgress progress = new ResponseProgress();
    private final ReentrantLock lock = new ReentrantLock();

    /** Awaited by the instance's thread; signalled when a response was taken, or when nobody wants more. */
    private final Condition room = lock.newCondition();

    // Guarded by lock.
    private final ArrayDeque<Sent> waiting = new ArrayDeque<>(CAPACITY);
    private boolean abandoned;

    /** When the first response was sent; 0 before. Written and read by the instance's thread only. */
    private long firstNanos;

    /** Written and read by the request's thread only. */
    private @Nullable Throwable receiverFailure;

    /** A response, or a failure in the place of one. */
    private sealed interface Sent {
        record Response(InferenceResponse response, boolean last) implements Sent {}

        record Failure(GatunException reason) implements Sent {}

        /** Frees what it owns: nobody takes it. */
        default void drop() {
            if (this instanceof Response unwanted) {
                unwanted.response().close();
            }
        }
    }

    /** @param patience how long the instance waits for a receiver that takes nothing: nobody else can use it then */
    ResponseStream(ResponseReceiver receiver, Duration patience) {
        this.receiver = receiver;
        this.patience = patience;
    }

    /** The progress of the responses. For the instance's thread. */
    ResponseProgress progress() {
        return progress;
    }

    /** When the first response was sent, by {@link System#nanoTime}; 0 before. For the instance's thread. */
    long firstNanos() {
        return firstNanos;
    }

    /**
     * Adds a response, which this owns, also on failure; waits while too many are there. Throws CANCELLED when nobody
     * wants it, or the receiver took nothing for too long. For the instance's thread.
     */
    void send(InferenceResponse response, boolean last) {
        add(new Sent.Response(response, last));
    }

    /** As {@link #send}, with a failure in the place of a response. */
    void sendFailure(GatunException reason) {
        add(new Sent.Failure(reason));
    }

    private void add(Sent next) {
        if (firstNanos == 0) {
            firstNanos = System.nanoTime();
        }
        lock.lock();
        try {
            long nanos = patience.toNanos();
            while (!abandoned && waiting.size() >= CAPACITY) {
                if (nanos <= 0) {
                    throw new GatunException(
                            ErrorCode.CANCELLED,
                            "the client has taken no response for " + patience.toMillis() + " ms while " + CAPACITY
                                    + " were waiting; the run was ended, so that the instance can serve others");
                }
                nanos = room.awaitNanos(nanos);
            }
            if (!abandoned) {
                waiting.add(next);
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            next.drop();
            throw new GatunException(ErrorCode.CANCELLED, "the instance was interrupted", e);
        } catch (GatunException e) {
            next.drop();
            throw e;
        } finally {
            lock.unlock();
        }
        next.drop();
        throw new GatunException(ErrorCode.CANCELLED, "nobody waits for more responses to this request");
    }

    /**
     * Gives the receiver the responses that wait, on the request's thread. Returns false when the receiver fails, which
     * is kept for {@link #check}.
     */
    boolean deliver() {
        while (true) {
            Sent next;
            lock.lock();
            try {
                next = waiting.poll();
                room.signal();
            } finally {
                lock.unlock();
            }
            if (next == null) {
                return true;
            }
            try {
                switch (next) {
                    case Sent.Response sent -> receiver.accept(sent.response(), sent.last());
                    case Sent.Failure failed -> receiver.acceptFailure(failed.reason());
                }
            } catch (RuntimeException | Error e) {
                receiverFailure = e;
                return false;
            }
        }
    }

    /** Closes the responses that wait, and has those to come refused. For any thread. */
    void abandon() {
        List<Sent> unwanted;
        lock.lock();
        try {
            abandoned = true;
            unwanted = new ArrayList<>(waiting);
            waiting.clear();
            room.signal();
        } finally {
            lock.unlock();
        }
        unwanted.forEach(Sent::drop);
    }

    /** Throws what the receiver threw, if it did. For the request's thread. */
    void check() {
        switch (receiverFailure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a receiver may not throw this", t);
        }
    }
}
