package gatun.grpc.tensorflow;

import com.google.protobuf.Any;
import com.google.protobuf.Int64Value;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.serving.ClassificationRequest;
import gatun.protocol.tensorflow.serving.ClassificationResponse;
import gatun.protocol.tensorflow.serving.ClassificationResult;
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
import gatun.protocol.tensorflow.serving.RegressionResult;
import gatun.runtime.EntryPoint;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.SignatureDefs;
import io.grpc.stub.StreamObserver;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Everything of the prediction service but Predict. */
final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
    private static final String SIGNATURE_DEF = "signature_def";

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
            ModelVersion model = servables.findSingleAnswering(servable);
            return ClassificationResponse.newBuilder()
                    .setResult(classified(model, servable, request.getInput()))
                    .setModelSpec(spec(model, servable))
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
                    .setResult(regressed(model, servable, request.getInput()))
                    .setModelSpec(spec(model, servable))
                    .build();
        });
    }

    private ClassificationResult classified(ModelVersion model, Servable servable, Input input) {
        return judge(model, servable, ExampleMethod.CLASSIFY, input, ExampleResults::classification);
    }

    private RegressionResult regressed(ModelVersion model, Servable servable, Input input) {
        return judge(model, servable, ExampleMethod.REGRESS, input, ExampleResults::regression);
    }

    private <R> R judge(
            ModelVersion model, Servable servable, ExampleMethod method, Input input, ExampleRuns.Results<R> results) {
        // The signature's faults come before those of the input.
        EntryPoint signature = method.signature(model, servable);
        return runs.run(model, servable.isAnyVersion(), signature, method, ExampleInput.of(input), results);
    }

    @Override
    public void multiInference(MultiInferenceRequest request, StreamObserver<MultiInferenceResponse> observer) {
        Statuses.answer(observer, () -> {
            requireTasks(request.getTasksList());
            MultiInferenceResponse.Builder response = MultiInferenceResponse.newBuilder();
            ModelVersion model = servables.findSingleAnswering(
                    Servable.of(request.getTasks(0).getModelSpec()));
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
        String method = task.getMethodName();
        if (method.equals(ExampleMethod.CLASSIFY.signatureMethod())) {
            return result.setClassificationResult(classified(model, servable, input))
                    .build();
        }
        if (method.equals(ExampleMethod.REGRESS.signatureMethod())) {
            return result.setRegressionResult(regressed(model, servable, input)).build();
        }
        throw new GatunException(ErrorCode.UNSUPPORTED, "Unsupported signature method_name: " + method);
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
