// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import gatun.spi.EntryPoint;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics.Api;

/** Predict: from the JSON of a request to the JSON of the response. Safe for any thread. */
final class PredictRoute {
    private final InferenceServer server;
    private final Servables servables;
    private final RestBodies bodies;
    private final ModelCalls calls;

    PredictRoute(InferenceServer server, Servables servables, RestBodies bodies, ModelCalls calls) {
        this.server = server;
        this.servables = servables;
        this.bodies = bodies;
        this.calls = calls;
    }

    void answer(Exchange exchange, ServablePath path) {
        Predict predict;
        try (RequestUsage usage = new RequestUsage(server.limits(), server.heap())) {
            predict = read(exchange, path, usage);
        }
        calls.answer(
                exchange,
                predict.request(),
                Api.PREDICT,
                (json, outputs) -> PredictResponseJson.write(json, outputs, predict.rows()));
    }

    private record Predict(InferenceRequest request, boolean rows) {}

    /** The body is not needed any more when the inputs have been read. */
    private Predict read(Exchange exchange, ServablePath path, RequestUsage usage) {
        Landed body = bodies.land(exchange);
        try (Buffer buffer = body.buffer()) {
            RequestDocument document =
                    RequestDocument.forPredict(buffer.segment(), body.offset(), body.byteSize(), usage);
            try {
                return read(exchange, document, path);
            } catch (GatunException e) {
                throw document.firstFailure(e);
            }
        }
    }

    private Predict read(Exchange exchange, RequestDocument document, ServablePath path) {
        Servable servable = path.servable(document.signatureName());
        ModelVersion model = servables.findSingleAnswering(servable);
        EntryPoint signature = Signatures.of(model, servable);
        InferenceRequest request = calls.request(exchange, model, servable);
        request.entryPoint(signature.name());
        try (PredictReader reader = new PredictReader(server.buffers(), document, model, signature.inputs())) {
            return new Predict(request, reader.readInto(request));
        } catch (Throwable t) {
            ModelCalls.giveUp(request);
            throw t;
        }
    }
}
