// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.TracedExchange;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.ResponseReceiver;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Inference in plain JSON, for models of texts: the members of an object are the inputs, and those of the responses the
 * outputs. One response, or any number of them as server-sent events. Safe for any thread.
 */
final class GenerateRoute {
    private static final String EVENT_STREAM = "Content-Type: text/event-stream; charset=utf-8";
    private static final ResponseHeaders EVENTS = ResponseHeaders.of(ResponseHeaders.constant(EVENT_STREAM));
    private static final String EVENT = "data: ";
    private static final String EVENT_END = "\n\n";

    private final InferenceServer server;
    private final JsonBody jsonBody;
    private final long maxInputByteSize;
    private final HeaderForwarding forwarding;

    /**
     * A route to the models of {@code server}.
     *
     * @param maxInputByteSize the most bytes that a tensor may have
     * @param forwarding which headers become parameters
     */
    GenerateRoute(InferenceServer server, JsonBody jsonBody, long maxInputByteSize, HeaderForwarding forwarding) {
        this.forwarding = forwarding;
        this.server = server;
        this.jsonBody = jsonBody;
        this.maxInputByteSize = maxInputByteSize;
    }

    /** Answers with the one response that the model gives. */
    void answerOnce(Exchange exchange, String name, String version) {
        traced(exchange, name, version, this::answerOnce);
    }

    private void answerOnce(Exchange exchange, InferenceRequest request) {
        List<InferenceResponse> first = new ArrayList<>(1);
        int[] count = {0};
        try {
            infer(exchange, request, (response, last) -> {
                if (count[0]++ == 0) {
                    first.add(response);
                } else {
                    response.close();
                }
            });
            answerWith(exchange, request, first, count[0]);
        } finally {
            first.forEach(InferenceResponse::close);
        }
    }

    private void answerWith(
            Exchange exchange, InferenceRequest request, List<InferenceResponse> first, int responseCount) {
        Optional<RequestTrace> trace = request.trace();
        trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
        if (responseCount != 1) {
            throw GatunException.invalidArgument("generate expects model to produce exactly 1 response, use generate"
                    + " stream for model that generates various number of responses");
        }
        GenerateResponse.requireForms(first.getFirst());
        LoadReport.add(exchange, server, request.model());
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        GenerateResponse.write(json, first.getFirst());
        JsonResponse.send(exchange, json);
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
    }

    /**
     * Answers with an event for each response, as it comes. A failure is an event too once the request has been
     * accepted.
     */
    void answerStream(Exchange exchange, String name, String version) {
        traced(exchange, name, version, this::answerStream);
    }

    private void answerStream(Exchange exchange, InferenceRequest request) {
        boolean[] accepted = {false};
        request.onSubmitted(() -> accepted[0] = true);
        Events events = new Events(exchange, request.trace());
        try {
            infer(exchange, request, events);
            events.begin(EVENTS);
        } catch (GatunException e) {
            if (!events.begun && !accepted[0]) {
                throw e;
            }
            events.acceptFailure(e);
        }
        exchange.endPieces();
        request.trace().ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
    }

    /** Sends responses and failures as events. */
    private static final class Events implements ResponseReceiver {
        private final Exchange exchange;
        private final Optional<RequestTrace> trace;
        private boolean begun;

        Events(Exchange exchange, Optional<RequestTrace> trace) {
            this.exchange = exchange;
            this.trace = trace;
        }

        /** Sends the head of the response unless it was sent. */
        void begin(ResponseHeaders headers) {
            if (!begun) {
                begun = true;
                exchange.beginPieces(headers);
            }
        }

        @Override
        public void accept(InferenceResponse response, boolean last) {
            try (response) {
                GenerateResponse.requireForms(response);
                if (!begun) {
                    trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
                    trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
                }
                begin(EVENTS);
                JsonWriter json = exchange.piece().raw(EVENT);
                GenerateResponse.write(json, response);
                exchange.sendPiece(json.raw(EVENT_END));
            }
        }

        @Override
        public void acceptFailure(GatunException reason) {
            begin(failed(Exchange.status(reason.code())));
            JsonWriter json = exchange.json().raw(EVENT).raw("{\"error\":");
            json.string(Exchange.shortened(reason.getMessage()));
            exchange.sendPiece(json.raw('}').raw(EVENT_END));
        }
    }

    private static ResponseHeaders failed(Status status) {
        return ResponseHeaders.of(ResponseHeaders.constant(status, EVENT_STREAM));
    }

    private void infer(Exchange exchange, InferenceRequest request, ResponseReceiver receiver) {
        exchange.<Void>whileClientWaits(request.cancellation()::cancel, () -> {
            server.infer(request, receiver);
            return null;
        });
    }

    /** Reads the request and has {@code answer} answer it; whatever becomes of it, its trace ends here. */
    private void traced(Exchange exchange, String name, String version, BiConsumer<Exchange, InferenceRequest> answer) {
        ModelVersion model = server.model(name, version);
        String encoding = exchange.header(HeaderNames.CONTENT_ENCODING).orElse("");
        if (!encoding.isEmpty() && !encoding.toLowerCase(Locale.ROOT).equals("identity")) {
            throw GatunException.invalidArgument("Unsupported content-encoding, only 'identity' is supported.");
        }
        Optional<RequestTrace> trace = TracedExchange.begin(server, model, exchange);
        try {
            InferenceRequest request = read(exchange, model, version.isEmpty());
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
            trace.ifPresent(request::trace);
            answer.accept(exchange, request);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private InferenceRequest read(Exchange exchange, ModelVersion model, boolean anyVersion) {
        InferenceRequest request = new InferenceRequest(model);
        request.anyVersion(anyVersion);
        request.origin(Origin.V2_HTTP);
        request.sender(exchange.sender());
        RequestUsage usage = jsonBody.usage();
        try {
            jsonBody.read(exchange, usage, new GenerateMembers(server.buffers(), request, usage, maxInputByteSize));
            if (usage.holdsHeap()) {
                request.hold(usage);
            }
            if (!forwarding.isNone()) {
                exchange.eachHeader((header, value) -> forwarding.forward(header, value, request));
            }
        } catch (Throwable t) {
            usage.close();
            request.close();
            throw t;
        }
        return request;
    }
}
