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
import java.util.function.Supplier;

/** Inference: from the body of a request to the response. Safe for any thread. */
final class InferRoute {
    private final InferenceServer server;
    private final InferBodies bodies;
    private final HeaderForwarding forwarding;

    /** Makes the reader of a connection. */
    private final Supplier<InferRequestReader> readers;

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
        this.bodies = new InferBodies(server, maxInputByteSize);
        this.forwarding = forwarding;
        this.readers = () -> new InferRequestReader(server, regions, maxInputByteSize);
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
        InferRequestReader reader = exchange.kept(readers);
        InferenceRequest request = read(exchange, model, reader);
        request.anyVersion(anyVersion);
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
        trace.ifPresent(request::trace);
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
            response.releaseRegions();
            InferResponseBody.send(exchange, response, reader.forms(), binary, server.heap());
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
        } catch (GatunException e) {
            throw request.afterRun(e); // there may be no memory for the response
        }
    }

    private InferenceRequest read(Exchange exchange, ModelVersion model, InferRequestReader reader) {
        reader.begin();
        try {
            InferBodies.Body body = reader.body();
            bodies.land(exchange, model, body);
            InferenceRequest request = new InferenceRequest(model);
            request.origin(Origin.V2_HTTP);
            request.sender(exchange.sender());
            try {
                request.hold(body.buffer());
                if (body.raw()) {
                    RawInput.add(request, body);
                    reader.forms().binaryByDefault(true);
                } else {
                    reader.read(exchange, request);
                }
                if (!forwarding.isNone()) {
                    exchange.eachHeader((header, value) -> forwarding.forward(header, value, request));
                }
            } catch (Throwable t) {
                request.close();
                throw t;
            }
            return request;
        } finally {
            reader.end();
        }
    }
}
