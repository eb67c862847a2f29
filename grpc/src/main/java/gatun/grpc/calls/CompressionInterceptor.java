// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.calls.CallAdmission.Encodings;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Compresses responses of some methods with the first of some encodings that the client takes, else with none. */
public final class CompressionInterceptor implements ServerInterceptor {
    private static final Metadata.Key<String> ACCEPTED =
            Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER);

    private final List<String> encodings;
    private final Set<String> methods;

    /** Compresses with {@code encodings}, best first, the responses of methods with these bare names. */
    public CompressionInterceptor(List<String> encodings, Set<String> methods) {
        this.encodings = encodings;
        this.methods = methods;
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        if (methods.contains(call.getMethodDescriptor().getBareMethodName())) {
            String accepted = headers.get(ACCEPTED);
            choose(accepted == null ? "" : accepted).ifPresent(call::setCompression);
        }
        return next.startCall(call, headers);
    }

    private Optional<String> choose(String accepted) {
        List<String> known = Encodings.list(accepted);
        return encodings.stream().filter(known::contains).findFirst();
    }
}
