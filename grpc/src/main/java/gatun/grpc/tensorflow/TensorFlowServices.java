package gatun.grpc.tensorflow;

import gatun.grpc.message.InPlaceMarshaller;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InferenceCall;
import gatun.protocol.tensorflow.serving.PredictionServiceGrpc;
import gatun.runtime.InferenceServer;
import gatun.tensorflow.serving.Servables;
import io.grpc.ServerServiceDefinition;
import java.util.List;

/** Puts together TensorFlow Serving's services, each method with its handler. */
public final class TensorFlowServices {
    private TensorFlowServices() {}

    /**
     * {@code tensorflow.serving.PredictionService} of one server.
     *
     * @param asTensorContent whether Predict answers with tensor_content and not with the fields of the types
     */
    public static ServerServiceDefinition prediction(InferenceServer server, boolean asTensorContent) {
        Servables servables = new Servables(server);
        PredictDecoder decoder = new PredictDecoder();
        PredictExchange exchange =
                new PredictExchange(server, servables, new PredictEncoder(server.buffers(), asTensorContent));
        return InPlaceMethods.replace(
                new PredictionService(servables, new ExampleAnswers(new ExampleRuns(server.buffers(), server::infer)))
                        .bindService(),
                List.of(InPlaceMethods.method(
                        PredictionServiceGrpc.getPredictMethod(),
                        new InPlaceMarshaller<>(decoder::decode, PredictDecoder::landingOffset),
                        server,
                        (call, headers) -> InferenceCall.begin(call, headers, server, exchange))));
    }

    /** {@code tensorflow.serving.ModelService} of one server. */
    public static ServerServiceDefinition models(InferenceServer server) {
        return new ModelService(server).bindService();
    }
}
