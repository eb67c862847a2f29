package gatun.grpc.tensorflow;

import com.google.protobuf.Any;
import com.google.protobuf.Int64Value;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.serving.ClassificationRequest;
import gatun.protocol.tensorflow.serving.ClassificationResponse;
import gatun.protocol.tensorflow.serving.GetModelMetadataRequest;
import gatun.protocol.tensorflow.serving.GetModelMetadataResponse;
import gatun.protocol.tensorflow.serving.InferenceResult;
import gatun.protocol.tensorflow.serving.InferenceTask;
import gatun.protocol.tensorflow.serving.Input;
import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.protocol.tensorflow.serving.MultiInferenceRequest;
import gatun.protocol.tensorflow.serving.MultiInferenceResponse;
import gatun.protocol.tensorflow.serving.PredictionServiceGrpc;
import gatun.protocol.tensorflow.serving.RegressionRequest;
import gatun.protocol.tensorflow.serving.RegressionResponse;
import gatun.runtime.EntryPoint;
import gatun.runtime.ModelVersion;
import io.grpc.stub.StreamObserver;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Everything of the prediction service but Predict. */
final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
    private static final String SIGNATURE_DEF = "signature_def";

    private static final Classifier CLASSIFIER = new Classifier();
    private static final Regressor REGRESSOR = new Regressor();

    private final Servables servables;
    private final ExampleRuns runs;

    PredictionService(Servables servables, ExampleRuns runs) {
        this.servables = servables;
        this.runs = runs;
    }

    @Override
    public void classify(ClassificationRequest request, StreamObserver<ClassificationResponse> observer) {
        Statuses.answer(observer, () -> {
            requireSpec(request.hasModelSpec());
            Servable servable = Servable.of(request.getModelSpec());
            ModelVersion model = servables.find(servable);
            return ClassificationResponse.newBuilder()
                    .setResult(judge(model, servable, CLASSIFIER, request.getInput()))
                    .setModelSpec(spec(model, servable))
                    .build();
        });
    }

    @Override
    public void regress(RegressionRequest request, StreamObserver<RegressionResponse> observer) {
        Statuses.answer(observer, () -> {
            requireSpec(request.hasModelSpec());
            Servable servable = Servable.of(request.getModelSpec());
            ModelVersion model = servables.find(servable);
            return RegressionResponse.newBuilder()
                    .setResult(judge(model, servable, REGRESSOR, request.getInput()))
                    .setModelSpec(spec(model, servable))
                    .build();
        });
    }

    private <R> R judge(ModelVersion model, Servable servable, ExampleMethod<R> method, Input input) {
        EntryPoint signature = model.entryPoints().get(servable.entryPoint());
        if (signature == null) {
            throw GatunException.invalidArgument("No signature was found with the name: " + servable.entryPoint());
        }
        // The signature's faults come before those of the input.
        method.outputs(signature);
        return runs.run(model, servable.isAnyVersion(), signature, method, ExampleInput.of(input));
    }

    @Override
    public void multiInference(MultiInferenceRequest request, StreamObserver<MultiInferenceResponse> observer) {
        Statuses.answer(observer, () -> {
            requireTasks(request.getTasksList());
            MultiInferenceResponse.Builder response = MultiInferenceResponse.newBuilder();
            ModelVersion model = servables.find(Servable.of(request.getTasks(0).getModelSpec()));
            for (InferenceTask task : request.getTasksList()) {
                response.addResults(result(model, task, request.getInput()));
            }
            return response.build();
        });
    }

    /** Refuses tasks that are not for one model, or of which two are for one signature. */
    private static void requireTasks(List<InferenceTask> tasks) {
        if (tasks.isEmpty()) {
            throw GatunException.invalidArgument("Found ModelSpec with an empty model name.");
        }
        Set<String> signatures = new HashSet<>();
        for (InferenceTask task : tasks) {
            String name = task.getModelSpec().getName();
            if (name.isEmpty()) {
                throw GatunException.invalidArgument("Found ModelSpec with an empty model name.");
            }
            if (!name.equals(tasks.getFirst().getModelSpec().getName())) {
                throw GatunException.invalidArgument(
                        "All ModelSpecs in a MultiInferenceRequest must access the same model name.");
            }
            String signature = Servable.of(task.getModelSpec()).entryPoint();
            if (!signatures.add(signature)) {
                throw GatunException.invalidArgument("Duplicate evaluation of signature: " + signature);
            }
        }
    }

    private InferenceResult result(ModelVersion model, InferenceTask task, Input input) {
        Servable servable = Servable.of(task.getModelSpec());
        if (!model.entryPoints().containsKey(servable.entryPoint())) {
            throw GatunException.invalidArgument(
                    "Requested signature not found in model graph: " + servable.entryPoint());
        }
        InferenceResult.Builder result = InferenceResult.newBuilder().setModelSpec(spec(model, servable));
        return switch (task.getMethodName()) {
            case Classifier.METHOD ->
                result.setClassificationResult(judge(model, servable, CLASSIFIER, input))
                        .build();
            case Regressor.METHOD ->
                result.setRegressionResult(judge(model, servable, REGRESSOR, input))
                        .build();
            default ->
                throw new GatunException(
                        ErrorCode.UNSUPPORTED, "Unsupported signature method_name: " + task.getMethodName());
        };
    }

    /** What answered; the signature as the client named it. */
    private static ModelSpec spec(ModelVersion model, Servable servable) {
        return ModelSpec.newBuilder()
                .setName(model.name())
                .setVersion(Int64Value.of(model.version()))
                .setSignatureName(servable.signature())
                .build();
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
