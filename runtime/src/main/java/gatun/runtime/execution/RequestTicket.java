// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.scheduling.Ticket;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceParent;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A ticket for a request: when it arrived, whether it is cancelled, and what a backend may ask about it. */
abstract class RequestTicket extends Ticket implements ExecutionRequest {
    private final InferenceRequest request;
    private long arrivedNanos;
    private volatile boolean unwanted;

    /** Cancels this; null before anybody may. */
    private @Nullable Runnable canceller;

    /** @param arrivedNanos reading of {@link System#nanoTime} at the request's arrival */
    RequestTicket(InferenceRequest request, long arrivedNanos) {
        this.request = request;
        this.arrivedNanos = arrivedNanos;
    }

    /** Makes it its request's next ticket, arrived now. Only if {@linkplain #ranWhereSubmitted run where submitted}. */
    void renew(long newArrivedNanos) {
        renew();
        arrivedNanos = newArrivedNanos;
        unwanted = false;
    }

    /** When the request arrived, as a reading of {@link System#nanoTime}. */
    final long arrivedNanos() {
        return arrivedNanos;
    }

    /** Notes that the client wants no response any more, which this is in {@code scheduler} for. For any thread. */
    abstract void cancel(Scheduler<InferenceTicket> scheduler);

    /** The action that {@linkplain #cancel cancels} this; always the same. For the thread that waits. */
    final Runnable canceller(Scheduler<InferenceTicket> scheduler) {
        Runnable action = canceller;
        if (action == null) {
            action = () -> cancel(scheduler);
            canceller = action;
        }
        return action;
    }

    final void becomeUnwanted() {
        unwanted = true;
    }

    final boolean isUnwanted() {
        return unwanted;
    }

    @Override
    public final boolean cancelled() {
        return unwanted;
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
