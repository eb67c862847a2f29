// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.PendingRequest;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceParent;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A pending request as its backend sees it: its arrival, its cancellation, and what it says of itself. */
abstract class BackendRequest extends PendingRequest implements ExecutionRequest {
    private final InferenceRequest request;
    private long arrivedNanos;
    private volatile boolean cancelled;

    /** Cancels this; null before anybody may. */
    private @Nullable Runnable canceller;

    /** @param arrivedNanos reading of {@link System#nanoTime} at the request's arrival */
    BackendRequest(InferenceRequest request, long arrivedNanos) {
        this.request = request;
        this.arrivedNanos = arrivedNanos;
    }

    /** Makes this new, arrived now. Only if {@linkplain #ranWhereSubmitted run where submitted}. */
    void renew(long newArrivedNanos) {
        renew();
        arrivedNanos = newArrivedNanos;
        cancelled = false;
    }

    /** When the request arrived, as a reading of {@link System#nanoTime}. */
    final long arrivedNanos() {
        return arrivedNanos;
    }

    /** Notes that the client wants no response any more, which this is in {@code scheduler} for. For any thread. */
    abstract void cancel(Scheduler<PendingInference> scheduler);

    /** The action that {@linkplain #cancel cancels} this; always the same. For the thread that waits. */
    final Runnable canceller(Scheduler<PendingInference> scheduler) {
        Runnable action = canceller;
        if (action == null) {
            action = () -> cancel(scheduler);
            canceller = action;
        }
        return action;
    }

    final void markCancelled() {
        cancelled = true;
    }

    @Override
    public final boolean cancelled() {
        return cancelled;
    }

    final InferenceRequest request() {
        return request;
    }

    /** As {@link InferenceRequest#timeLeftNanos()}. */
    final long timeLeftNanos() {
        return request.timeLeftNanos();
    }

    @Override
    public final String id() {
        return request.id();
    }

    @Override
    public final Map<String, ParameterValue> parameters() {
        return request.parameters();
    }

    @Override
    public final long timeoutMicros() {
        return request.timeoutMicros();
    }

    @Override
    public final long priority() {
        return request.priority();
    }

    @Override
    public final void traceActivity(String name) {
        request.trace().ifPresent(trace -> trace.activity(name));
    }

    @Override
    public final Optional<String> traceContext() {
        return request.trace().flatMap(RequestTrace::nameRun).map(TraceParent::header);
    }
}
