// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.TracedExchange;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.ServerExit;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import java.util.Optional;

/** Inference: from the body of a request to the response. Safe for any thread. */
final class InferRoute {
    private final InferenceServer server;
    private final ClientRegions regions;
    private final InferBodies bodies;
    private final HeaderForwarding forwarding;
    private final long maxInputByteSize;
    private final ResponseHeaders.Constant binary;

    /**
     * @param regions the shared memory of clients
     * @param binary the head of a response with bytes behind its JSON, up to the length of that
     */
    InferRoute(
            InferenceServer server,
            ClientRegions regions,
            long maxInputByteSize,
            HeaderForwarding forwarding,
            ResponseHeaders.Constant binary) {
        this.server = server;
        this.regions = regions;
        this.bodies = new InferBodies(server, maxInputByteSize);
        this.forwarding = forwarding;
        this.maxInputByteSize = maxInputByteSize;
        this.binary = binary;
    }

    void answer(Exchange exchange, String name, String version) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        ModelVersion model = server.model(name, version);
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED, "HTTP end point doesn't support models with decoupled transaction policy");
        }
        Optional<RequestTrace> trace = TracedExchange.begin(server, model, exchange);
        try {
            answer(exchange, model, version.isEmpty(), trace);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private void answer(Exchange exchange, ModelVersion model, boolean anyVersion, Optional<RequestTrace> trace) {
        OutputForms forms = new OutputForms();
        InferenceRequest request = read(exchange, model, forms);
        request.anyVersion(anyVersion);
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
        trace.ifPresent(request::trace);
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
            response.releaseRegions();
            InferResponseBody.send(exchange, response, forms, binary, server.heap());
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
        } catch (GatunException e) {
            throw request.afterRun(e); // there may be no memory for the response
        }
    }

    private InferenceRequest read(Exchange exchange, ModelVersion model, OutputForms forms) {
        InferBodies.Body body = bodies.land(exchange, model);
        InferenceRequest request = new InferenceRequest(model);
        request.origin(Origin.V2_HTTP);
        request.sender(exchange.sender());
        try {
            request.hold(body.buffer());
            if (body.raw()) {
                RawInput.add(request, body);
                forms.binaryByDefault(true);
            } else {
                new InferRequestReader(server, regions, exchange, request, body, forms, maxInputByteSize).read();
            }
            if (!forwarding.isNone()) {
                exchange.eachHeader((header, value) -> forwarding.forward(header, value, request));
            }
        } catch (Throwable t) {
            request.close();
            throw t;
        }
        return request;
    }
}
