// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The responses on one stream, by one thread at a time: single ones in their requests' order, those of decoupled models
 * as they come. Ends the call when all requests are answered, or a failure ends it. Safe for any thread.
 */
final class StreamResponses {
    /** A request's place among the responses. Its fields are guarded by the lock of the responses. */
    static final class Place {
        private @Nullable InferenceRequest request;
        private @Nullable OutboundMessage response;
        private @Nullable Status failure;

        private boolean isDone() {
            return response != null || failure != null;
        }
    }

    private final ServerCall<?, OutboundMessage> call;
    private final ReentrantLock lock = new ReentrantLock();

    /** Awaited by threads that have one response of several; signalled when nobody sends. */
    private final Condition idle = lock.newCondition();

    // Guarded by lock.
    private final ArrayDeque<Place> inOrder = new ArrayDeque<>();
    private final Set<Place> unordered = new HashSet<>();
    private boolean sending;
    private boolean requestsEnded;
    private boolean over;

    StreamResponses(ServerCall<?, OutboundMessage> call) {
        this.call = call;
    }

    /** The place of a request that has just come; null when the stream is over. */
    @Nullable
    Place next() {
        Place place = new Place();
        lock.lock();
        try {
            if (over) {
                return null;
            }
            inOrder.add(place);
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the end of the stream give the request up; at once when that has come already. */
    void begin(Place place, InferenceRequest request) {
        boolean late;
        boolean decoupled = request.model().decoupled();
        lock.lock();
        try {
            late = over;
            if (!late) {
                place.request = request;
                if (decoupled) {
                    inOrder.remove(place);
                    unordered.add(place);
                }
            }
        } finally {
            lock.unlock();
        }
        if (late) {
            request.cancellation().cancel();
        } else if (decoupled) {
            sendWhatIsDue(); // responses that waited behind it
        }
    }

    /** Sends and owns one response of several; waits for others and slow clients. Throws CANCELLED after the end. */
    void send(OutboundMessage response) {
        if (!takeTurn()) {
            response.close();
            throw new GatunException(ErrorCode.CANCELLED, "the stream is over");
        }
        try {
            call.sendMessage(response);
        } finally {
            endTurn();
        }
        sendWhatIsDue();
    }

    /** Ends a request's responses; owns {@code response}, the last or null. A {@code failure} ends the stream. */
    void finish(Place place, @Nullable OutboundMessage response, @Nullable Status failure) {
        boolean waitsForItsTurn;
        boolean late;
        lock.lock();
        try {
            place.request = null;
            late = over;
            waitsForItsTurn = !unordered.contains(place);
            if (!late && waitsForItsTurn) {
                place.response = response;
                place.failure = failure;
            }
        } finally {
            lock.unlock();
        }
        if (late) {
            discard(response);
            return;
        }
        if (!waitsForItsTurn) {
            finishUnordered(place, response, failure);
        }
        sendWhatIsDue();
    }

    private void finishUnordered(Place place, @Nullable OutboundMessage response, @Nullable Status failure) {
        if (!takeTurn()) {
            discard(response);
            return;
        }
        lock.lock();
        try {
            unordered.remove(place);
            if (failure != null) {
                end();
            }
        } finally {
            lock.unlock();
        }
        try {
            sendLast(response, failure);
        } finally {
            endTurn();
        }
    }

    /** No more requests will come: when all are answered, so is the call. */
    void requestsEnded() {
        lock.lock();
        try {
            requestsEnded = true;
        } finally {
            lock.unlock();
        }
        sendWhatIsDue();
    }

    void cancel() {
        List<InferenceRequest> unanswered = new ArrayList<>();
        lock.lock();
        try {
            inOrder.forEach(place -> addRequest(place, unanswered));
            unordered.forEach(place -> addRequest(place, unanswered));
            end();
        } finally {
            lock.unlock();
        }
        unanswered.forEach(request -> request.cancellation().cancel());
    }

    private static void addRequest(Place place, List<InferenceRequest> requests) {
        InferenceRequest request = place.request;
        if (request != null) {
            requests.add(request);
        }
    }

    /** Waits until nobody else sends; false when nothing may be sent any more. */
    private boolean takeTurn() {
        lock.lock();
        try {
            while (sending && !over) {
                idle.awaitUninterruptibly();
            }
            if (over) {
                return false;
            }
            sending = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void endTurn() {
        lock.lock();
        try {
            sending = false;
            idle.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Sends the responses whose turn it is, and the end of the stream. */
    private void sendWhatIsDue() {
        while (true) {
            Place due;
            lock.lock();
            try {
                // Whoever sends now looks here afterwards.
                if (sending || over) {
                    return;
                }
                due = inOrder.peek();
                if (due == null ? !requestsEnded || !unordered.isEmpty() : !due.isDone()) {
                    return;
                }
                inOrder.poll();
                sending = true;
                if (due == null || due.failure != null) {
                    end();
                }
            } finally {
                lock.unlock();
            }
            try {
                if (due == null) {
                    call.close(Status.OK, new Metadata());
                } else {
                    sendLast(due.response, due.failure);
                }
            } finally {
                endTurn();
            }
        }
    }

    /** Sends the end of the response to a request, and lets the client send one more. */
    private void sendLast(@Nullable OutboundMessage response, @Nullable Status failure) {
        if (failure != null) {
            call.close(failure, new Metadata());
            return;
        }
        if (response != null) {
            call.sendMessage(response);
        }
        call.request(1);
    }

    /** Nothing more will be sent: responses that wait for their turn give their memory back. */
    private void end() {
        assert lock.isHeldByCurrentThread();
        over = true;
        for (Place place : inOrder) {
            discard(place.response);
        }
        inOrder.clear();
        unordered.clear();
        idle.signalAll();
    }

    private static void discard(@Nullable OutboundMessage response) {
        if (response != null) {
            response.close();
        }
    }
}
