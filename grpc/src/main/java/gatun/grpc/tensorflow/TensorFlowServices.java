package gatun.grpc.tensorflow;

import gatun.grpc.TensorFlowSettings;
import gatun.grpc.message.InPlaceMarshaller;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InferenceCall;
import gatun.protocol.tensorflow.serving.PredictionServiceGrpc;
import gatun.runtime.InferenceServer;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts together TensorFlow Serving's services, each method with its handler. */
public final class TensorFlowServices {
    private TensorFlowServices() {}

    /** {@code tensorflow.serving.PredictionService} of one server. */
    public static ServerServiceDefinition prediction(InferenceServer server, TensorFlowSettings settings) {
        @Nullable ServingMetrics metrics = settings.metrics().orElse(null);
        Servables servables = new Servables(server);
        PredictDecoder decoder = new PredictDecoder();
        PredictExchange exchange = new PredictExchange(
                server, servables, new PredictEncoder(server.buffers(), settings.tensorContent()), metrics);
        return InPlaceMethods.replace(
                new PredictionService(
                                servables,
                                new ExampleAnswers(
                                        new ExampleRuns(server.buffers(), server::infer, metrics),
                                        settings.methodNames()),
                                metrics)
                        .bindService(),
                List.of(InPlaceMethods.method(
                        PredictionServiceGrpc.getPredictMethod(),
                        new InPlaceMarshaller<>(decoder::decode, PredictDecoder::landingOffset),
                        server,
                        (call, headers) -> InferenceCall.begin(call, headers, server, exchange))));
    }

    /** {@code tensorflow.serving.ModelService} of one server. */
    public static ServerServiceDefinition models(InferenceServer server, TensorFlowSettings settings) {
        ConfigReload reload = new ConfigReload(
                server, settings.anyLabels(), settings.metrics().orElse(null));
        return new ModelService(server, reload).bindService();
    }
}
