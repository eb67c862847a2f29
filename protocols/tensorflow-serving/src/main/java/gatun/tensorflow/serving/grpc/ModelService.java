// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.tensor.GatunException;
import gatun.runtime.server.InferenceServer;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.VersionStatuses;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.GetModelStatusResponse;
import gatun.wire.tensorflow.serving.ModelServiceGrpc;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import gatun.wire.tensorflow.serving.ReloadConfigResponse;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.locks.ReentrantLock;

/** In which state the versions of models are, and which models are served. */
final class ModelService extends ModelServiceGrpc.ModelServiceImplBase {
    private final InferenceServer server;
    private final ConfigReload reload;

    /** Keeps two replacements of the list apart. */
    private final ReentrantLock replacing = new ReentrantLock();

    ModelService(InferenceServer server, ConfigReload reload) {
        this.server = server;
        this.reload = reload;
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
        return GetModelStatusResponse.newBuilder()
                .addAllModelVersionStatus(VersionStatuses.of(
                        server, spec.getName(), Servable.of(spec).version()))
                .build();
    }
}
