// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Int64Value;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.SignatureDefs;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelMetadataResponse;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.stub.StreamObserver;

/**
 * Metadata of models in the prediction service; its inferences are in {@link PredictExchange} and
 * {@link ExampleService}.
 */
final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
    private static final String SIGNATURE_DEF = "signature_def";

    private final Servables servables;

    PredictionService(Servables servables) {
        this.servables = servables;
    }

    private static void requireSpec(boolean present) {
        if (!present) {
            throw GatunException.invalidArgument("Missing ModelSpec");
        }
    }

    @Override
    public void getModelMetadata(GetModelMetadataRequest request, StreamObserver<GetModelMetadataResponse> observer) {
        Statuses.answer(observer, () -> metadata(request));
    }

    private GetModelMetadataResponse metadata(GetModelMetadataRequest request) {
        requireSpec(request.hasModelSpec());
        if (request.getMetadataFieldCount() == 0) {
            throw GatunException.invalidArgument("GetModelMetadataRequest must specify at least one metadata_field");
        }
        for (String field : request.getMetadataFieldList()) {
            if (!field.equals(SIGNATURE_DEF)) {
                throw GatunException.invalidArgument("Metadata field " + field + " is not supported");
            }
        }
        ModelVersion model = servables.find(Servable.of(request.getModelSpec()));
        return GetModelMetadataResponse.newBuilder()
                .setModelSpec(ModelSpec.newBuilder().setName(model.name()).setVersion(Int64Value.of(model.version())))
                .putMetadata(SIGNATURE_DEF, Any.pack(SignatureDefs.of(model)))
                .build();
    }
}
