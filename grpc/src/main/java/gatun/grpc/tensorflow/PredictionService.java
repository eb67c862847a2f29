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
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import gatun.tensorflow.serving.SignatureDefs;
import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Everything of the prediction service but Predict. */
final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
    private static final String SIGNATURE_DEF = "signature_def";

    private final Servables servables;
    private final ExampleAnswers examples;
    private final @Nullable ServingMetrics metrics;

    /** @param metrics where requests are counted; null for nowhere */
    PredictionService(Servables servables, ExampleAnswers examples, @Nullable ServingMetrics metrics) {
        this.servables = servables;
        this.examples = examples;
        this.metrics = metrics;
    }

    /** Answers a call by {@code work}, and counts it where somebody wants that. */
    private <T> void answer(StreamObserver<T> observer, Api api, String model, Supplier<T> work) {
        ServingMetrics counting = metrics;
        if (counting == null) {
            Statuses.answer(observer, work);
            return;
        }
        long arrivedNanos = System.nanoTime();
        Statuses.answer(observer, () -> {
            try {
                T answer = work.get();
                counting.answered(model, api, Entrypoint.GRPC, System.nanoTime() - arrivedNanos);
                return answer;
            } catch (GatunException e) {
                counting.failed(model, e.code());
                throw e;
            }
        });
    }

    @Override
    public void classify(ClassificationRequest request, StreamObserver<ClassificationResponse> observer) {
        answer(observer, Api.CLASSIFY, request.getModelSpec().getName(), () -> {
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
        answer(observer, Api.REGRESS, request.getModelSpec().getName(), () -> {
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
        String model = request.getTasksCount() == 0
                ? ""
                : request.getTasks(0).getModelSpec().getName();
        answer(observer, Api.MULTI_INFERENCE, model, () -> {
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
