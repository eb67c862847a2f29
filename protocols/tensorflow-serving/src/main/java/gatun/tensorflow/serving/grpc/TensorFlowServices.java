// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.GrpcService;
import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMarshaller;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InferenceCall;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Puts together TensorFlow Serving's services, each method with its handler. */
public final class TensorFlowServices {
    private static final Map<String, ApiGroup> PREDICTION_GROUPS = Map.ofEntries(
            Map.entry("Predict", ApiGroup.INFERENCE),
            Map.entry("Classify", ApiGroup.INFERENCE),
            Map.entry("Regress", ApiGroup.INFERENCE),
            Map.entry("MultiInference", ApiGroup.INFERENCE),
            Map.entry("GetModelMetadata", ApiGroup.METADATA));

    private static final Map<String, ApiGroup> MODEL_GROUPS = Map.ofEntries(
            Map.entry("GetModelStatus", ApiGroup.METADATA),
            Map.entry("HandleReloadConfigRequest", ApiGroup.MODEL_REPOSITORY));

    private static final Map<String, ApiGroup> PROFILER_GROUPS = Map.ofEntries(
            Map.entry("Profile", ApiGroup.TRACE),
            Map.entry("Terminate", ApiGroup.TRACE),
            Map.entry("Monitor", ApiGroup.STATISTICS));

    private TensorFlowServices() {}

    /** {@code tensorflow.serving.PredictionService} of one server. */
    public static GrpcService prediction(InferenceServer server, TensorFlowSettings settings) {
        @Nullable ServingMetrics metrics = settings.metrics().orElse(null);
        Servables servables = new Servables(server);
        PredictDecoder predictions = new PredictDecoder(server.limits(), server.heap());
        PredictExchange exchange = new PredictExchange(
                server, servables, new PredictEncoder(server.buffers(), settings.tensorContent()), metrics);
        ExampleDecoder decoder = new ExampleDecoder(server.limits(), server.heap());
        ExampleService examples = new ExampleService(
                servables,
                new ExampleResponses(
                        new ExampleRuns(server.buffers(), request -> infer(server, request), metrics),
                        settings.methodNames()),
                metrics);
        ServerServiceDefinition service = InPlaceMethods.replace(
                ControlMethods.limit(new PredictionService(servables).bindService(), server),
                List.of(
                        InPlaceMethods.method(
                                PredictionServiceGrpc.getPredictMethod(),
                                new InPlaceMarshaller<>(predictions::decode, PredictDecoder::landingOffset),
                                server,
                                (call, headers) -> InferenceCall.begin(call, headers, server, exchange)),
                        examples(
                                PredictionServiceGrpc.getClassifyMethod(), server, decoder::decode, examples::classify),
                        examples(PredictionServiceGrpc.getRegressMethod(), server, decoder::decode, examples::regress),
                        examples(
                                PredictionServiceGrpc.getMultiInferenceMethod(),
                                server,
                                decoder::decodeTasks,
                                examples::multiInference)));
        return new GrpcService(service, PREDICTION_GROUPS);
    }

    /** Answers a request, traced if requests to its model are. */
    private static InferenceResponse infer(InferenceServer server, InferenceRequest request) {
        ModelVersion model = request.model();
        Optional<RequestTrace> trace =
                server.tracing().begin(model.name(), model.version(), server, none -> Optional.empty());
        trace.ifPresent(request::trace);
        try {
            return server.infer(request);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private static ServerMethodDefinition<?, ?> examples(
            MethodDescriptor<?, ?> generated,
            InferenceServer server,
            Function<MemorySegment, ExampleMessage> decoder,
            ExampleCall.Responses responses) {
        // Examples are copied to where the model reads them, wherever the message lies.
        return InPlaceMethods.method(
                generated,
                new InPlaceMarshaller<>(decoder, start -> 0),
                server,
                (call, headers) -> ExampleCall.begin(call, responses));
    }

    /** {@code tensorflow.serving.ModelService} of one server. */
    public static GrpcService models(InferenceServer server, TensorFlowSettings settings) {
        ConfigReload reload = new ConfigReload(
                server, settings.anyLabels(), settings.metrics().orElse(null));
        return new GrpcService(
                ControlMethods.limit(new ModelService(server, reload).bindService(), server), MODEL_GROUPS);
    }

    /** {@code tensorflow.ProfilerService} of one server. */
    public static GrpcService profiler(InferenceServer server) {
        return new GrpcService(
                ControlMethods.limit(new ProfilerService(server).bindService(), server), PROFILER_GROUPS);
    }
}
