// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.Ticket;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceParent;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.util.Map;
import java.util.Optional;

/** A ticket for a request, and what a backend learns of the request beside its tensors, whatever run it is in. */
abstract class RequestTicket extends Ticket implements ExecutionRequest {
    private final InferenceRequest request;

    RequestTicket(InferenceRequest request) {
        this.request = request;
    }

    /** The request that it is for, or a part of it. */
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
