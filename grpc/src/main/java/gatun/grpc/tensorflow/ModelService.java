package gatun.grpc.tensorflow;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.Code;
import gatun.protocol.tensorflow.serving.GetModelStatusRequest;
import gatun.protocol.tensorflow.serving.GetModelStatusResponse;
import gatun.protocol.tensorflow.serving.ModelServiceGrpc;
import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.protocol.tensorflow.serving.ModelVersionStatus;
import gatun.protocol.tensorflow.serving.ReloadConfigRequest;
import gatun.protocol.tensorflow.serving.ReloadConfigResponse;
import gatun.protocol.tensorflow.serving.StatusProto;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelStatus;
import io.grpc.stub.StreamObserver;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** In which state the versions of models are, and which models are served. */
final class ModelService extends ModelServiceGrpc.ModelServiceImplBase {
    /** The reason that the index gives for versions that were unloaded and did not fail. */
    private static final String UNLOADED = "unloaded";

    private final InferenceServer server;
    private final ConfigReload reload;

    /** Keeps two replacements of the list apart. */
    private final ReentrantLock replacing = new ReentrantLock();

    ModelService(InferenceServer server) {
        this.server = server;
        this.reload = new ConfigReload(server);
    }

    @Override
    public void getModelStatus(GetModelStatusRequest request, StreamObserver<GetModelStatusResponse> observer) {
        Statuses.answer(observer, () -> status(request));
    }

    @Override
    public void handleReloadConfigRequest(ReloadConfigRequest request, StreamObserver<ReloadConfigResponse> observer) {
        Statuses.answer(observer, () -> {
            replacing.lock();
            try {
                return reload.apply(request);
            } finally {
                replacing.unlock();
            }
        });
    }

    private GetModelStatusResponse status(GetModelStatusRequest request) {
        if (!request.hasModelSpec()) {
            throw GatunException.invalidArgument("Missing ModelSpec");
        }
        ModelSpec spec = request.getModelSpec();
        List<ModelVersionStatus> versions = server.index().stream()
                .filter(model ->
                        model.name().equals(spec.getName()) && !model.version().isEmpty())
                .map(ModelService::status)
                .filter(version -> !spec.hasVersion()
                        || version.getVersion() == spec.getVersion().getValue())
                .sorted(Comparator.comparingLong(ModelVersionStatus::getVersion).reversed())
                .toList();
        if (versions.isEmpty()) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    spec.hasVersion()
                            ? "Could not find version " + spec.getVersion().getValue() + " of model " + spec.getName()
                            : "Could not find any versions of model " + spec.getName());
        }
        return GetModelStatusResponse.newBuilder()
                .addAllModelVersionStatus(versions)
                .build();
    }

    /** Whether a version is not served since it cannot be, and not since nobody wants it. */
    static boolean isFailed(ModelStatus model) {
        return !model.reason().isEmpty() && !model.reason().equals(UNLOADED);
    }

    private static ModelVersionStatus status(ModelStatus model) {
        boolean failed = isFailed(model);
        return ModelVersionStatus.newBuilder()
                .setVersion(Long.parseLong(model.version()))
                .setState(
                        switch (model.state()) {
                            case UNKNOWN -> ModelVersionStatus.State.START;
                            case LOADING -> ModelVersionStatus.State.LOADING;
                            case READY -> ModelVersionStatus.State.AVAILABLE;
                            case UNLOADING -> ModelVersionStatus.State.UNLOADING;
                            case UNAVAILABLE -> ModelVersionStatus.State.END;
                        })
                .setStatus(StatusProto.newBuilder()
                        .setErrorCode(failed ? Code.UNKNOWN : Code.OK)
                        .setErrorMessage(failed ? model.reason() : ""))
                .build();
    }
}
