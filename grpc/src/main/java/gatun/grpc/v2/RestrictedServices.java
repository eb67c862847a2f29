// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.v2;

import gatun.grpc.connection.GuardedCallHandler;
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

/** Refuses calls of restricted groups of methods by their headers, before any memory is taken for messages. Safe for any thread. */
public final class RestrictedServices {
    private static final Map<String, ApiGroup> GROUPS = Map.ofEntries(
            Map.entry("ServerLive", ApiGroup.HEALTH),
            Map.entry("ServerReady", ApiGroup.HEALTH),
            Map.entry("ModelReady", ApiGroup.HEALTH),
            Map.entry("Check", ApiGroup.HEALTH),
            Map.entry("Watch", ApiGroup.HEALTH),
            Map.entry("ServerMetadata", ApiGroup.METADATA),
            Map.entry("ModelMetadata", ApiGroup.METADATA),
            Map.entry("ModelInfer", ApiGroup.INFERENCE),
            Map.entry("ModelStreamInfer", ApiGroup.INFERENCE),
            Map.entry("ModelConfig", ApiGroup.MODEL_CONFIG),
            Map.entry("ModelStatistics", ApiGroup.STATISTICS),
            Map.entry("RepositoryIndex", ApiGroup.MODEL_REPOSITORY),
            Map.entry("RepositoryModelLoad", ApiGroup.MODEL_REPOSITORY),
            Map.entry("RepositoryModelUnload", ApiGroup.MODEL_REPOSITORY),
            Map.entry("SystemSharedMemoryStatus", ApiGroup.SHARED_MEMORY),
            Map.entry("SystemSharedMemoryRegister", ApiGroup.SHARED_MEMORY),
            Map.entry("SystemSharedMemoryUnregister", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryStatus", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryRegister", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryUnregister", ApiGroup.SHARED_MEMORY),
            Map.entry("Predict", ApiGroup.INFERENCE),
            Map.entry("Classify", ApiGroup.INFERENCE),
            Map.entry("Regress", ApiGroup.INFERENCE),
            Map.entry("MultiInference", ApiGroup.INFERENCE),
            Map.entry("GetModelMetadata", ApiGroup.METADATA),
            Map.entry("GetModelStatus", ApiGroup.METADATA),
            Map.entry("HandleReloadConfigRequest", ApiGroup.MODEL_REPOSITORY),
            Map.entry("Health", ApiGroup.HEALTH),
            Map.entry("Status", ApiGroup.METADATA),
            Map.entry("Infer", ApiGroup.INFERENCE),
            Map.entry("StreamInfer", ApiGroup.INFERENCE),
            Map.entry("ModelControl", ApiGroup.MODEL_REPOSITORY),
            Map.entry("Repository", ApiGroup.MODEL_REPOSITORY),
            Map.entry("SharedMemoryControl", ApiGroup.SHARED_MEMORY),
            Map.entry("TraceSetting", ApiGroup.TRACE),
            Map.entry("LogSettings", ApiGroup.LOGGING));

    private RestrictedServices() {}

    /**
     * The service with its methods restricted; the same where nothing is. What wraps its handlers later takes the restriction from them, so
     * this comes last.
     */
    public static ServerServiceDefinition restrict(ServerServiceDefinition service, ApiAccess access) {
        if (access.isOpen()) {
            return service;
        }
        ServerServiceDefinition.Builder restricted = ServerServiceDefinition.builder(service.getServiceDescriptor());
        service.getMethods().forEach(method -> restricted.addMethod(restrict(method, access)));
        return restricted.build();
    }

    private static <Q, R> ServerMethodDefinition<Q, R> restrict(ServerMethodDefinition<Q, R> method, ApiAccess access) {
        ApiGroup group = GROUPS.get(method.getMethodDescriptor().getBareMethodName());
        return group == null
                ? method
                : method.withServerCallHandler(new Restricted<>(group, access, method.getServerCallHandler()));
    }

    private record Restricted<Q, R>(ApiGroup group, ApiAccess access, ServerCallHandler<Q, R> handler)
            implements GuardedCallHandler<Q, R> {
        @Override
        public Optional<Status> refusal(Metadata headers) {
            return access.refusal(group, name -> only(headers, name)).map(RestrictedServices::status);
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
