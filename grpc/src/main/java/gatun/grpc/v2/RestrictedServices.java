package gatun.grpc.v2;

import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.Map;
import java.util.Optional;

/** Refuses calls of restricted groups of methods, before any message of them is read. Safe for any thread. */
public final class RestrictedServices implements ServerInterceptor {
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

    private final ApiAccess access;

    private RestrictedServices(ApiAccess access) {
        this.access = access;
    }

    /** The service with its methods restricted; the same where nothing is. */
    public static ServerServiceDefinition restrict(ServerServiceDefinition service, ApiAccess access) {
        return access.isOpen() ? service : ServerInterceptors.intercept(service, new RestrictedServices(access));
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        ApiGroup group = GROUPS.get(call.getMethodDescriptor().getBareMethodName());
        Optional<Refusal> refusal = group == null
                ? Optional.empty()
                : access.refusal(group, name -> Optional.ofNullable(headers.get(key(name))));
        if (refusal.isEmpty()) {
            return next.startCall(call, headers);
        }
        call.close(status(refusal.get()), new Metadata());
        return new ServerCall.Listener<>() {};
    }

    private static Metadata.Key<String> key(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
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
