package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;

/** Inference: from the body of a request to the answer. Safe for any thread. */
final class InferRoute {
    private final InferenceServer server;
    private final InferBodies bodies;
    private final long maxInputByteSize;

    InferRoute(InferenceServer server, long maxInputByteSize) {
        this.server = server;
        this.bodies = new InferBodies(server.buffers(), maxInputByteSize);
        this.maxInputByteSize = maxInputByteSize;
    }

    void answer(Exchange exchange, String name, String version) {
        ModelVersion model = server.model(name, version);
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED, "HTTP end point doesn't support models with decoupled transaction policy");
        }
        InferBodies.Body body = bodies.land(exchange, model);
        InferenceRequest request = new InferenceRequest(model);
        request.anyVersion(version.isEmpty());
        request.origin(Origin.V2_HTTP);
        OutputForms forms = new OutputForms();
        try {
            request.hold(body.buffer());
            if (body.raw()) {
                RawInput.add(request, body);
                forms.binaryByDefault(true);
            } else {
                new InferRequestReader(server, request, body, forms, maxInputByteSize).read();
            }
        } catch (Throwable t) {
            request.close();
            throw t;
        }
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            InferAnswer.send(exchange, response, forms);
        }
    }
}
