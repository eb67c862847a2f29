// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.message.StatusTable;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.ClientRegions;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.TraceSettings;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryRegisterResponse;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryStatusResponse;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterResponse;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.LogSettingsRequest;
import gatun.wire.inference.LogSettingsResponse;
import gatun.wire.inference.ModelConfigRequest;
import gatun.wire.inference.ModelConfigResponse;
import gatun.wire.inference.ModelMetadataRequest;
import gatun.wire.inference.ModelMetadataResponse;
import gatun.wire.inference.ModelReadyRequest;
import gatun.wire.inference.ModelReadyResponse;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.ModelStatisticsResponse;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.RepositoryIndexResponse;
import gatun.wire.inference.RepositoryModelLoadRequest;
import gatun.wire.inference.RepositoryModelLoadResponse;
import gatun.wire.inference.RepositoryModelUnloadRequest;
import gatun.wire.inference.RepositoryModelUnloadResponse;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerLiveResponse;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.ServerMetadataResponse;
import gatun.wire.inference.ServerReadyRequest;
import gatun.wire.inference.ServerReadyResponse;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterResponse;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryStatusResponse;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterResponse;
import gatun.wire.inference.TraceSettingRequest;
import gatun.wire.inference.TraceSettingResponse;
import io.grpc.stub.StreamObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The v2 service without inference: health, metadata, statistics, control, memory and settings. */
final class ControlService extends GRPCInferenceServiceGrpc.GRPCInferenceServiceImplBase {
    /** Heap for one model in a message of statistics, in bytes, at most. */
    private static final long STATISTICS_BYTE_SIZE = 4 << 10;

    /** Heap for one model in an index, in bytes, at most. */
    private static final long STATUS_BYTE_SIZE = 512;

    private final InferenceServer server;
    private final ClientRegions regions;

    ControlService(InferenceServer server, ClientRegions regions) {
        this.server = server;
        this.regions = regions;
    }

    private static <T> void answer(StreamObserver<T> observer, Supplier<T> work) {
        T answer;
        try {
            answer = work.get();
        } catch (GatunException e) {
            observer.onError(StatusTable.toStatus(e).asRuntimeException());
            return;
        }
        observer.onNext(answer);
        observer.onCompleted();
    }

    /** The same for many models: {@code byteSize} bytes of heap until the client has it. */
    private <T> void answerOfMany(StreamObserver<T> observer, long byteSize, Supplier<T> work) {
        Hold heap;
        try {
            heap = server.heap().reserve(byteSize);
        } catch (GatunException e) {
            observer.onError(StatusTable.toStatus(e).asRuntimeException());
            return;
        }
        try (heap) {
            answer(observer, work);
        }
    }

    @Override
    public void serverLive(ServerLiveRequest request, StreamObserver<ServerLiveResponse> observer) {
        answer(
                observer,
                () -> ServerLiveResponse.newBuilder().setLive(server.live()).build());
    }

    @Override
    public void serverReady(ServerReadyRequest request, StreamObserver<ServerReadyResponse> observer) {
        answer(
                observer,
                () -> ServerReadyResponse.newBuilder().setReady(server.ready()).build());
    }

    @Override
    public void modelReady(ModelReadyRequest request, StreamObserver<ModelReadyResponse> observer) {
        answer(observer, () -> {
            boolean ready =
                    server.unreadiness(request.getName(), request.getVersion()).isEmpty();
            return ModelReadyResponse.newBuilder().setReady(ready).build();
        });
    }

    @Override
    public void serverMetadata(ServerMetadataRequest request, StreamObserver<ServerMetadataResponse> observer) {
        answer(observer, () -> {
            ServerMetadata metadata = server.metadata();
            return ServerMetadataResponse.newBuilder()
                    .setName(metadata.name())
                    .setVersion(metadata.version())
                    .addAllExtensions(metadata.extensions())
                    .build();
        });
    }

    @Override
    public void modelMetadata(ModelMetadataRequest request, StreamObserver<ModelMetadataResponse> observer) {
        answer(observer, () -> {
            ModelVersion model = server.model(request.getName(), request.getVersion());
            ModelMetadataResponse.Builder metadata = ModelMetadataResponse.newBuilder()
                    .setName(model.name())
                    .setPlatform(model.platform())
                    .addAllVersions(
                            request.getVersion().isEmpty() ? model.readyVersions() : List.of(model.versionText()));
            model.inputs().forEach(input -> metadata.addInputs(tensor(input)));
            model.outputs().forEach(output -> metadata.addOutputs(tensor(output)));
            return metadata.build();
        });
    }

    private static ModelMetadataResponse.TensorMetadata tensor(TensorSpec spec) {
        ModelMetadataResponse.TensorMetadata.Builder metadata = ModelMetadataResponse.TensorMetadata.newBuilder()
                .setName(spec.name())
                .setDatatype(spec.datatype().wireName());
        Shape shape = spec.shape();
        for (int i = 0; i < shape.rank(); i++) {
            metadata.addShape(shape.dim(i));
        }
        return metadata.build();
    }

    @Override
    public void modelConfig(ModelConfigRequest request, StreamObserver<ModelConfigResponse> observer) {
        answer(observer, () -> ModelConfigResponse.newBuilder()
                .setConfig(server.model(request.getName(), request.getVersion()).config())
                .build());
    }

    @Override
    public void modelStatistics(ModelStatisticsRequest request, StreamObserver<ModelStatisticsResponse> observer) {
        int models = request.getName().isEmpty() ? server.index().size() : 0;
        answerOfMany(
                observer,
                models * STATISTICS_BYTE_SIZE,
                () -> StatisticsMessages.of(server.statistics(request.getName(), request.getVersion())));
    }

    @Override
    public void repositoryIndex(RepositoryIndexRequest request, StreamObserver<RepositoryIndexResponse> observer) {
        List<ModelStatus> models = server.index();
        answerOfMany(observer, models.size() * STATUS_BYTE_SIZE, () -> {
            refuseName(request.getRepositoryName());
            RepositoryIndexResponse.Builder index = RepositoryIndexResponse.newBuilder();
            for (ModelStatus model : models) {
                if (!request.getReady() || model.state() == ModelState.READY) {
                    index.addModelsBuilder()
                            .setName(model.name())
                            .setVersion(model.version())
                            .setState(
                                    model.state() == ModelState.UNKNOWN
                                            ? ""
                                            : model.state().name())
                            .setReason(model.reason());
                }
            }
            return index.build();
        });
    }

    private static void refuseName(String repository) {
        if (!repository.isEmpty()) {
            throw new GatunException(ErrorCode.UNSUPPORTED, "'repository_name' specification is not supported");
        }
    }

    @Override
    public void repositoryModelLoad(
            RepositoryModelLoadRequest request, StreamObserver<RepositoryModelLoadResponse> observer) {
        answer(observer, () -> {
            refuseName(request.getRepositoryName());
            server.load(request.getModelName(), LoadParameters.override(request.getParametersMap()));
            return RepositoryModelLoadResponse.getDefaultInstance();
        });
    }

    @Override
    public void repositoryModelUnload(
            RepositoryModelUnloadRequest request, StreamObserver<RepositoryModelUnloadResponse> observer) {
        answer(observer, () -> {
            refuseName(request.getRepositoryName());
            server.unload(request.getModelName(), LoadParameters.unloadDependents(request.getParametersMap()));
            return RepositoryModelUnloadResponse.getDefaultInstance();
        });
    }

    @Override
    public void systemSharedMemoryStatus(
            SystemSharedMemoryStatusRequest request, StreamObserver<SystemSharedMemoryStatusResponse> observer) {
        answer(observer, () -> {
            SystemSharedMemoryStatusResponse.Builder status = SystemSharedMemoryStatusResponse.newBuilder();
            for (SystemRegionStatus region :
                    regions.statuses(CallLocation.current(), request.getName(), SystemRegionStatus.class)) {
                status.putRegions(
                        region.name(),
                        SystemSharedMemoryStatusResponse.RegionStatus.newBuilder()
                                .setName(region.name())
                                .setKey(region.key())
                                .setOffset(region.offset())
                                .setByteSize(region.byteSize())
                                .build());
            }
            return status.build();
        });
    }

    @Override
    public void systemSharedMemoryRegister(
            SystemSharedMemoryRegisterRequest request, StreamObserver<SystemSharedMemoryRegisterResponse> observer) {
        answer(observer, () -> {
            regions.open(CallLocation.current())
                    .register(request.getName(), request.getKey(), request.getOffset(), request.getByteSize());
            return SystemSharedMemoryRegisterResponse.getDefaultInstance();
        });
    }

    @Override
    public void systemSharedMemoryUnregister(
            SystemSharedMemoryUnregisterRequest request,
            StreamObserver<SystemSharedMemoryUnregisterResponse> observer) {
        answer(observer, () -> {
            regions.unregister(CallLocation.current(), request.getName(), SystemRegionStatus.class);
            return SystemSharedMemoryUnregisterResponse.getDefaultInstance();
        });
    }

    @Override
    public void logSettings(LogSettingsRequest request, StreamObserver<LogSettingsResponse> observer) {
        answer(observer, () -> {
            if (request.getSettingsCount() > 0) {
                server.log().change(before -> LogSettingsMessages.changed(before, request.getSettingsMap()));
            }
            return LogSettingsMessages.of(server.log().settings());
        });
    }

    @Override
    public void traceSetting(TraceSettingRequest request, StreamObserver<TraceSettingResponse> observer) {
        answer(observer, () -> {
            String model = request.getModelName();
            if (!model.isEmpty() && server.unreadiness(model, "").isPresent()) {
                throw GatunException.invalidArgument(TraceSettings.UNKNOWN_MODEL + model);
            }
            if (request.getSettingsCount() > 0) {
                Map<String, List<String>> changes = new HashMap<>();
                request.getSettingsMap().forEach((name, value) -> changes.put(name, value.getValueList()));
                server.tracing().change(model, changes);
            }
            TraceSettingResponse.Builder response = TraceSettingResponse.newBuilder();
            server.tracing()
                    .settings(model)
                    .forEach((name, values) -> response.putSettings(
                            name,
                            TraceSettingResponse.SettingValue.newBuilder()
                                    .addAllValue(values)
                                    .build()));
            return response.build();
        });
    }

    @Override
    public void cudaSharedMemoryStatus(
            CudaSharedMemoryStatusRequest request, StreamObserver<CudaSharedMemoryStatusResponse> observer) {
        answer(observer, () -> {
            CudaSharedMemoryStatusResponse.Builder status = CudaSharedMemoryStatusResponse.newBuilder();
            for (CudaRegionStatus region :
                    regions.statuses(CallLocation.current(), request.getName(), CudaRegionStatus.class)) {
                status.putRegions(
                        region.name(),
                        CudaSharedMemoryStatusResponse.RegionStatus.newBuilder()
                                .setName(region.name())
                                .setDeviceId(region.device())
                                .setByteSize(region.byteSize())
                                .build());
            }
            return status.build();
        });
    }

    @Override
    public void cudaSharedMemoryRegister(
            CudaSharedMemoryRegisterRequest request, StreamObserver<CudaSharedMemoryRegisterResponse> observer) {
        answer(observer, () -> {
            regions.open(CallLocation.current())
                    .registerCuda(
                            request.getName(),
                            request.getRawHandle().toByteArray(),
                            request.getDeviceId(),
                            request.getByteSize());
            return CudaSharedMemoryRegisterResponse.getDefaultInstance();
        });
    }

    @Override
    public void cudaSharedMemoryUnregister(
            CudaSharedMemoryUnregisterRequest request, StreamObserver<CudaSharedMemoryUnregisterResponse> observer) {
        answer(observer, () -> {
            regions.unregister(CallLocation.current(), request.getName(), CudaRegionStatus.class);
            return CudaSharedMemoryUnregisterResponse.getDefaultInstance();
        });
    }
}
