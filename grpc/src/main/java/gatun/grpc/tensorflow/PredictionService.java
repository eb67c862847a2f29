package gatun.grpc.tensorflow;

import com.google.protobuf.Any;
import com.google.protobuf.Int64Value;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.serving.ClassificationRequest;
import gatun.protocol.tensorflow.serving.ClassificationResponse;
import gatun.protocol.tensorflow.serving.GetModelMetadataRequest;
import gatun.protocol.tensorflow.serving.GetModelMetadataResponse;
import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.protocol.tensorflow.serving.MultiInferenceRequest;
import gatun.protocol.tensorflow.serving.MultiInferenceResponse;
import gatun.protocol.tensorflow.serving.PredictionServiceGrpc;
import gatun.protocol.tensorflow.serving.RegressionRequest;
import gatun.protocol.tensorflow.serving.RegressionResponse;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.SignatureDefs;
import io.grpc.stub.StreamObserver;

/** Everything of the prediction service but Predict. */
final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
    private static final String SIGNATURE_DEF = "signature_def";

    private final Servables servables;
    private final ExampleAnswers examples;

    PredictionService(Servables servables, ExampleAnswers examples) {
        this.servables = servables;
        this.examples = examples;
    }

    @Override
    public void classify(ClassificationRequest request, StreamObserver<ClassificationResponse> observer) {
        Statuses.answer(observer, () -> {
            requireSpec(request.hasModelSpec());
            Servable servable = Servable.of(request.getModelSpec());
            ModelVersion model = servables.findSingleAnswering(servable);
            return ClassificationResponse.newBuilder()
                    .setResult(examples.classified(model, servable, request.getInput()))
                    .setModelSpec(ExampleAnswers.spec(model, servable))
                    .build();
        });
    }

    @Override
    public void regress(RegressionRequest request, StreamObserver<RegressionResponse> observer) {
        Statuses.answer(observer, () -> {
            requireSpec(request.hasModelSpec());
            Servable servable = Servable.of(request.getModelSpec());
            ModelVersion model = servables.findSingleAnswering(servable);
            return RegressionResponse.newBuilder()
                    .setResult(examples.regressed(model, servable, request.getInput()))
                    .setModelSpec(ExampleAnswers.spec(model, servable))
                    .build();
        });
    }

    @Override
    public void multiInference(MultiInferenceRequest request, StreamObserver<MultiInferenceResponse> observer) {
        Statuses.answer(observer, () -> {
            ExampleAnswers.requireTasks(request.getTasksList());
            Servable first = Servable.of(request.getTasks(0).getModelSpec());
            return examples.all(servables.findSingleAnswering(first), request);
        });
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
