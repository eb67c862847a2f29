// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.ModelVersion;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.util.Optional;

/** The beginning of a trace over HTTP. */
public final class TracedExchange {
    private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");

    private TracedExchange() {}

    /** Begins a request's trace before its body is read; empty for most. The caller ends it. */
    public static Optional<RequestTrace> begin(ServerResources server, ModelVersion model, Exchange exchange) {
        Optional<RequestTrace> trace =
                server.tracing().begin(model.name(), model.version(), exchange, request -> request.header(TRACEPARENT));
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_START));
        return trace;
    }
}
