package gatun.grpc.tensorflow;

import com.google.protobuf.Int64Value;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.serving.ClassificationResult;
import gatun.protocol.tensorflow.serving.InferenceResult;
import gatun.protocol.tensorflow.serving.InferenceTask;
import gatun.protocol.tensorflow.serving.Input;
import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.protocol.tensorflow.serving.MultiInferenceRequest;
import gatun.protocol.tensorflow.serving.MultiInferenceResponse;
import gatun.protocol.tensorflow.serving.RegressionResult;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.ServingMetrics.Api;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a version answers to examples, as messages. Safe for any thread; the calling one waits for the model. */
final class ExampleAnswers {
    private final ExampleRuns runs;
    private final boolean methodNames;

    /**
     * Answers with {@code runs}.
     *
     * @param methodNames whether signatures must call their methods as they are asked
     */
    ExampleAnswers(ExampleRuns runs, boolean methodNames) {
        this.runs = runs;
        this.methodNames = methodNames;
    }

    /** @throws GatunException when the signature that {@code servable} names does not classify, or the model fails */
    ClassificationResult classified(ModelVersion model, Servable servable, Input input) {
        return judge(model, servable, ExampleMethod.CLASSIFY, Api.CLASSIFY, input, ExampleResults::classification);
    }

    /** @throws GatunException when the signature that {@code servable} names has no regression, or the model fails */
    RegressionResult regressed(ModelVersion model, Servable servable, Input input) {
        return judge(model, servable, ExampleMethod.REGRESS, Api.REGRESS, input, ExampleResults::regression);
    }

    private <R> R judge(
            ModelVersion model,
            Servable servable,
            ExampleMethod method,
            Api api,
            Input input,
            ExampleRuns.Results<R> results) {
        // The signature's faults come before those of the input.
        ExampleSignature signature = ExampleSignature.of(model, method, servable, methodNames);
        return runs.run(model, servable.isAnyVersion(), signature, api, ExampleInput.of(input), results);
    }

    /**
     * The answers to all tasks of a request, whose tasks {@link #requireTasks} let pass.
     *
     * @throws GatunException when one fails
     */
    MultiInferenceResponse all(ModelVersion model, MultiInferenceRequest request) {
        MultiInferenceResponse.Builder response = MultiInferenceResponse.newBuilder();
        for (InferenceTask task : request.getTasksList()) {
            response.addResults(result(model, task, request.getInput()));
        }
        return response.build();
    }

    /**
     * Refuses tasks that are not for one model, or of which two are for one signature.
     *
     * @throws GatunException INVALID_ARGUMENT also when there are none
     */
    static void requireTasks(List<InferenceTask> tasks) {
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
        if (!ExampleSignature.exists(model, servable)) {
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
    static ModelSpec spec(ModelVersion model, Servable servable) {
        return ModelSpec.newBuilder()
                .setName(model.name())
                .setVersion(Int64Value.of(model.version()))
                .setSignatureName(servable.signature())
                .build();
    }
}
