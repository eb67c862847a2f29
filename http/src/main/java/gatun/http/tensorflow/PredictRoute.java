package gatun.http.tensorflow;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.memory.Buffer;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;

/** Predict: from the JSON of a request to the JSON of the answer. Safe for any thread. */
final class PredictRoute {
    private final InferenceServer server;
    private final Servables servables;
    private final RestBodies bodies;

    PredictRoute(InferenceServer server, Servables servables, RestBodies bodies) {
        this.server = server;
        this.servables = servables;
        this.bodies = bodies;
    }

    void answer(Exchange exchange, ServablePath path) {
        Predict predict = read(exchange, path);
        InferenceRequest request = predict.request();
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            IndentedJson json = RestAnswer.text(exchange);
            PredictAnswer.write(json, response.outputs(), predict.rows());
            RestAnswer.send(exchange, json);
        }
    }

    private record Predict(InferenceRequest request, boolean rows) {}

    /** The body is not needed any more when the inputs have been read. */
    private Predict read(Exchange exchange, ServablePath path) {
        Landed body = bodies.land(exchange);
        try (Buffer buffer = body.buffer()) {
            RequestDocument document = new RequestDocument(buffer.segment(), body.offset(), body.byteSize());
            ModelVersion model = servables.find(path);
            if (model.decoupled()) {
                throw new GatunException(
                        ErrorCode.UNSUPPORTED,
                        "the model '" + model.name() + "' may send any number of responses to a request;"
                                + " ask it over a gRPC stream");
            }
            EntryPoint signature = Signatures.of(model, document.signatureName());
            InferenceRequest request = new InferenceRequest(model);
            request.entryPoint(signature.name());
            try (PredictReader reader = new PredictReader(server.buffers(), document, signature.inputs())) {
                request.anyVersion(path.version().isEmpty());
                return new Predict(request, reader.readInto(request));
            } catch (Throwable t) {
                request.close();
                throw t;
            }
        }
    }
}
