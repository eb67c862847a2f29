// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import gatun.runtime.tracing.RequestTrace;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Keeps requests' events up to a number, and counts the rest. Thread-safe; does not block. */
public final class Recording implements Consumer<RequestTrace> {
    private final long maxEvents;
    private final Queue<ProfiledRequest> requests = new ConcurrentLinkedQueue<>();
    private final AtomicLong events = new AtomicLong();
    private final AtomicLong leftOut = new AtomicLong();

    /** Keeps at most {@code maxEvents} events. */
    public Recording(long maxEvents) {
        this.maxEvents = maxEvents;
    }

    /** Takes a request that has ended, with those that were made for it. */
    @Override
    public void accept(RequestTrace trace) {
        // Without looking at it: a full recording is to cost as little as possible.
        if (events.get() >= maxEvents) {
            leftOut.incrementAndGet();
            return;
        }
        ProfiledRequest.of(trace).ifPresent(this::add);
        trace.children().forEach(this);
    }

    private void add(ProfiledRequest request) {
        int count = request.eventCount();
        if (events.addAndGet(count) <= maxEvents) {
            requests.add(request);
        } else {
            events.addAndGet(-count);
            leftOut.incrementAndGet();
        }
    }

    /** The requests so far, in no order. */
    List<ProfiledRequest> requests() {
        return List.copyOf(requests);
    }

    /** How many requests did not fit. */
    long leftOut() {
        return leftOut.get();
    }

    /** Whether there is nothing to tell. */
    public boolean isEmpty() {
        return requests.isEmpty();
    }
}
