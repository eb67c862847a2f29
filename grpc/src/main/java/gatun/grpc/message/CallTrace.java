// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.runtime.ModelVersion;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.grpc.Metadata;
import java.util.Optional;

/** The begin of a trace over gRPC. */
public final class CallTrace {
    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    private CallTrace() {}

    /** Begins the trace of a request that is being read; empty for most, which are not traced. The caller ends it. */
    public static Optional<RequestTrace> begin(ServerResources server, ModelVersion model, Metadata headers) {
        Optional<RequestTrace> trace = server.tracing()
                .begin(
                        model.name(),
                        model.version(),
                        headers,
                        metadata -> Optional.ofNullable(metadata.get(TRACEPARENT)));
        trace.ifPresent(present -> present.reached(TraceStage.GRPC_WAITREAD_START));
        return trace;
    }
}
