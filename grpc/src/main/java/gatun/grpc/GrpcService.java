// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.calls.GuardedCallHandler;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.Map;
import java.util.Optional;

/** A service with its handlers, and the access groups of its methods by name; one without a group is open to all. */
public record GrpcService(ServerServiceDefinition definition, Map<String, ApiGroup> groups) {
    /** Keeps a copy of the groups. */
    public GrpcService {
        groups = Map.copyOf(groups);
    }

    /** A service that is open to all. */
    public static GrpcService open(ServerServiceDefinition definition) {
        return new GrpcService(definition, Map.of());
    }

    /** The service with methods restricted by their headers. Must wrap the handlers last. */
    ServerServiceDefinition restrict(ApiAccess access) {
        if (access.isOpen() || groups.isEmpty()) {
            return definition;
        }
        ServerServiceDefinition.Builder restricted = ServerServiceDefinition.builder(definition.getServiceDescriptor());
        definition.getMethods().forEach(method -> restricted.addMethod(restrict(method, access)));
        return restricted.build();
    }

    private <Q, R> ServerMethodDefinition<Q, R> restrict(ServerMethodDefinition<Q, R> method, ApiAccess access) {
        ApiGroup group = groups.get(method.getMethodDescriptor().getBareMethodName());
        return group == null
                ? method
                : method.withServerCallHandler(new Restricted<>(group, access, method.getServerCallHandler()));
    }

    private record Restricted<Q, R>(ApiGroup group, ApiAccess access, ServerCallHandler<Q, R> handler)
            implements GuardedCallHandler<Q, R> {
        @Override
        public Optional<Status> refusal(Metadata headers) {
            return access.refusal(group, name -> only(headers, name)).map(GrpcService::status);
        }

        @Override
        public ServerCall.Listener<Q> startCall(ServerCall<Q, R> call, Metadata headers) {
            return handler.startCall(call, headers);
        }
    }

    /** The value of a header; empty as well when it has several: which of them counts is not for a client to try. */
    private static Optional<String> only(Metadata headers, String name) {
        Iterable<String> values = headers.getAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        if (values == null) {
            return Optional.empty();
        }
        String first = null;
        for (String value : values) {
            if (first != null && !first.equals(value)) {
                return Optional.empty();
            }
            first = value;
        }
        return Optional.ofNullable(first);
    }

    private static Status status(Refusal refusal) {
        return switch (refusal) {
            case Refusal.MissingHeader header ->
                Status.UNAVAILABLE.withDescription(
                        "This protocol is restricted, expecting header '" + header.name() + "'");
            case Refusal.MissingToken token -> Status.UNAUTHENTICATED.withDescription(Refusal.MissingToken.TEXT);
        };
    }
}
