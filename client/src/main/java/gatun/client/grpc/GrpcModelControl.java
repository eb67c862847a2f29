// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import com.google.protobuf.ByteString;
import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RepositoryModel;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelConfigRequest;
import gatun.wire.inference.ModelMetadataRequest;
import gatun.wire.inference.ModelMetadataResponse;
import gatun.wire.inference.ModelReadyRequest;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.RepositoryModelLoadRequest;
import gatun.wire.inference.RepositoryModelUnloadRequest;
import java.util.List;
import java.util.Map;

/** The models of a server over gRPC. */
final class GrpcModelControl implements ModelControl {
    private final UnaryCalls calls;

    GrpcModelControl(UnaryCalls calls) {
        this.calls = calls;
    }

    @Override
    public boolean ready(String model, String version) {
        try {
            return calls.call(
                            GRPCInferenceServiceGrpc.getModelReadyMethod(),
                            ModelReadyRequest.newBuilder()
                                    .setName(model)
                                    .setVersion(version)
                                    .build(),
                            "whether model '" + model + "' is ready")
                    .getReady();
        } catch (ServerException e) {
            if (e.code() == StatusCode.NOT_FOUND
                    || e.code() == StatusCode.INVALID_ARGUMENT
                    || e.code() == StatusCode.UNAVAILABLE) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public ModelMetadata metadata(String model, String version) {
        ModelMetadataResponse said = calls.call(
                GRPCInferenceServiceGrpc.getModelMetadataMethod(),
                ModelMetadataRequest.newBuilder()
                        .setName(model)
                        .setVersion(version)
                        .build(),
                "the metadata of model '" + model + "'");
        return new ModelMetadata(
                said.getName(),
                said.getVersionsList(),
                said.getPlatform(),
                specs(said.getInputsList()),
                specs(said.getOutputsList()));
    }

    @Override
    public ModelConfig config(String model, String version) {
        return calls.call(
                        GRPCInferenceServiceGrpc.getModelConfigMethod(),
                        ModelConfigRequest.newBuilder()
                                .setName(model)
                                .setVersion(version)
                                .build(),
                        "the configuration of model '" + model + "'")
                .getConfig();
    }

    @Override
    public List<ModelStatistics> statistics(String model, String version) {
        return calls.call(
                        GRPCInferenceServiceGrpc.getModelStatisticsMethod(),
                        ModelStatisticsRequest.newBuilder()
                                .setName(model)
                                .setVersion(version)
                                .build(),
                        "the statistics of model '" + model + "'")
                .getModelStatsList();
    }

    @Override
    public List<RepositoryModel> index(boolean onlyReady) {
        return calls
                .call(
                        GRPCInferenceServiceGrpc.getRepositoryIndexMethod(),
                        RepositoryIndexRequest.newBuilder().setReady(onlyReady).build(),
                        "the list of models")
                .getModelsList()
                .stream()
                .map(model ->
                        new RepositoryModel(model.getName(), model.getVersion(), model.getState(), model.getReason()))
                .toList();
    }

    @Override
    public void load(String model, String config, Map<String, byte[]> files) {
        RepositoryModelLoadRequest.Builder request =
                RepositoryModelLoadRequest.newBuilder().setModelName(model);
        if (!config.isEmpty()) {
            request.putParameters(
                    "config",
                    ModelRepositoryParameter.newBuilder().setStringParam(config).build());
        }
        files.forEach((path, content) -> request.putParameters(
                "file:" + path,
                ModelRepositoryParameter.newBuilder()
                        .setBytesParam(ByteString.copyFrom(content))
                        .build()));
        Object ignored = calls.call(
                GRPCInferenceServiceGrpc.getRepositoryModelLoadMethod(),
                request.build(),
                "loading model '" + model + "'");
    }

    @Override
    public void unload(String model, boolean dependents) {
        RepositoryModelUnloadRequest.Builder request =
                RepositoryModelUnloadRequest.newBuilder().setModelName(model);
        if (dependents) {
            request.putParameters(
                    "unload_dependents",
                    ModelRepositoryParameter.newBuilder().setBoolParam(true).build());
        }
        Object ignored = calls.call(
                GRPCInferenceServiceGrpc.getRepositoryModelUnloadMethod(),
                request.build(),
                "unloading model '" + model + "'");
    }

    private static List<TensorSpec> specs(List<ModelMetadataResponse.TensorMetadata> tensors) {
        return tensors.stream()
                .map(tensor -> new TensorSpec(
                        tensor.getName(),
                        Datatype.of(tensor.getDatatype()),
                        Shape.of(tensor.getShapeList().stream()
                                .mapToLong(Long::longValue)
                                .toArray())))
                .toList();
    }
}
