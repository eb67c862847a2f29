// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.json.TensorDataWriter;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** Inference in plain JSON: members are tensors; one response, or server-sent events. Thread-safe. */
final class GenerateRoute {
    private static final String EVENT_STREAM = "Content-Type: text/event-stream; charset=utf-8";
    private static final ResponseHeaders EVENTS = ResponseHeaders.of(ResponseHeaders.constant(EVENT_STREAM));
    private static final String EVENT = "data: ";
    private static final String EVENT_END = "\n\n";

    private final InferenceServer server;
    private final JsonBody jsonBody;
    private final long maxInputByteSize;
    private final HeaderForwarding forwarding;

    GenerateRoute(InferenceServer server, JsonBody jsonBody, long maxInputByteSize, HeaderForwarding forwarding) {
        this.forwarding = forwarding;
        this.server = server;
        this.jsonBody = jsonBody;
        this.maxInputByteSize = maxInputByteSize;
    }

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

    /** Answers with an event for each response, or for a failure once the request was accepted. */
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
            begin(ResponseHeaders.of(ResponseHeaders.constant(Exchange.status(reason.code()), EVENT_STREAM)));
            JsonWriter json = exchange.json().raw(EVENT).raw("{\"error\":");
            json.string(Exchange.shortened(reason.getMessage()));
            exchange.sendPiece(json.raw('}').raw(EVENT_END));
        }
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
        Optional<RequestTrace> trace = exchange.beginTrace(server, model);
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
        request.origin(InferRoute.ORIGIN);
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

    /** Tells load balancers a model's load in response headers, in ORCA's formats. Thread-safe. */
    static final class LoadReport {
        private static final HeaderName FORMAT = HeaderNames.create("endpoint-load-metrics-format");
        private static final HeaderName REPORT = HeaderNames.create("endpoint-load-metrics");

        private LoadReport() {}

        /** Adds the report to the response, where the request asks for one in a known format. */
        static void add(Exchange exchange, InferenceServer server, ModelVersion model) {
            if (!exchange.hasHeader(FORMAT)) {
                return;
            }
            long pending = pendingRequestCount(server, model);
            BufferPool buffers = server.buffers();
            double poolUtilization = (double) buffers.usedBytes() / buffers.byteLimit();
            switch (exchange.header(FORMAT).orElse("")) {
                case "text" -> exchange.header(REPORT, text(pending, poolUtilization));
                case "json" -> exchange.header(REPORT, json(pending, poolUtilization));
                default -> {
                    // Of a format that is not known there is no report, as in Triton.
                }
            }
        }

        private static String text(long pending, double poolUtilization) {
            return String.format(
                    Locale.ROOT,
                    "TEXT named_metrics.pending_request_count=%d, named_metrics.buffer_pool_utilization=%f",
                    pending,
                    poolUtilization);
        }

        private static String json(long pending, double poolUtilization) {
            JsonWriter json = new JsonWriter().raw("JSON {\"named_metrics\":{\"pending_request_count\":");
            json.signed(pending).raw(",\"buffer_pool_utilization\":").fp64(poolUtilization);
            json.raw("}}");
            return new String(json.array(), 0, json.size(), StandardCharsets.US_ASCII);
        }

        private static long pendingRequestCount(InferenceServer server, ModelVersion model) {
            return server.statistics().stream()
                    .filter(version -> version.name().equals(model.name())
                            && version.version().equals(model.versionText()))
                    .mapToLong(statistics -> statistics.totals().pendingRequestCount())
                    .sum();
        }
    }

    /** Writes a response as one flat object: its members, parameters and outputs, by the bytes of their names. */
    static final class GenerateResponse {
        private static final Comparator<String> BY_BYTES = (one, other) ->
                Arrays.compareUnsigned(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

        private GenerateResponse() {}

        /** Writes the value of one member. */
        private interface Value {
            void write(JsonWriter json);
        }

        /** Writes {@code response}; throws INVALID_ARGUMENT, perhaps in the middle, for an output without JSON. */
        static void write(JsonWriter json, InferenceResponse response) {
            Map<String, Value> members = new TreeMap<>(BY_BYTES);
            if (!response.id().isEmpty()) {
                members.put("id", target -> target.string(response.id()));
            }
            members.put("model_name", target -> target.string(response.modelName()));
            members.put("model_version", target -> target.string(response.modelVersion()));
            response.parameters()
                    .forEach((name, value) ->
                            members.putIfAbsent(name, target -> InferResponseBody.writeParameter(target, value)));
            response.outputs()
                    .forEach(output -> members.putIfAbsent(
                            output.tensor().spec().name(), target -> writeTensor(target, output.tensor())));
            char separator = '{';
            for (Map.Entry<String, Value> member : members.entrySet()) {
                json.raw(separator).string(member.getKey()).raw(':');
                member.getValue().write(json);
                separator = ',';
            }
            json.raw('}');
        }

        /** Throws GatunException as {@link #write} unless that can write all of {@code response}. */
        static void requireForms(InferenceResponse response) {
            for (OutputTensor output : response.outputs()) {
                TensorDataWriter.requireForm(output.tensor().spec().datatype());
            }
        }

        private static void writeTensor(JsonWriter json, Tensor tensor) {
            TensorSpec spec = tensor.spec();
            if (spec.shape().elementCount() == 1) {
                TensorDataWriter.writeElements(json, spec.datatype(), tensor.bytes());
            } else {
                TensorDataWriter.write(json, spec.datatype(), tensor.bytes());
            }
        }
    }
}
