// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.http.connection.ResponseHeaders;
import gatun.http.routes.PathValues;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeCopy;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.v1.V1Api;
import gatun.v1.V1InferRequests;
import gatun.v1.V1InferRequests.InputData;
import gatun.v1.V1InferResponse;
import gatun.wire.v1.InferRequestHeader;
import gatun.wire.v1.InferResponseHeader;
import gatun.wire.v1.RequestStatus;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Inference with headers for request and response; the latter's body repeats its header. Thread-safe. */
final class InferRoute {
    private static final Origin ORIGIN = new Origin(200, "v1", "http");
    private static final HeaderName REQUEST = HeaderNames.create("NV-InferRequest");
    private static final HeaderName RESPONSE = HeaderNames.create("NV-InferResponse");
    private static final String BINARY = "Content-Type: application/octet-stream";
    private static final ResponseHeaders.Constant OK = ResponseHeaders.constant(BINARY);
    private static final ResponseHeaders.Constant FAILED = ResponseHeaders.constant(Status.BAD_REQUEST_400, BINARY);
    private static final ResponseHeaders.Constant UNREADABLE = ResponseHeaders.constant(Status.BAD_REQUEST_400);

    private final InferenceService server;
    private final V1Api api;

    InferRoute(InferenceService server, V1Api api) {
        this.server = server;
        this.api = api;
    }

    void answer(Exchange exchange, PathValues path) {
        Optional<String> text = exchange.header(REQUEST);
        if (text.isEmpty()) {
            exchange.answer(
                    ResponseHeaders.of(UNREADABLE),
                    exchange.json().raw("The request header should contain 'NV-InferRequest'"));
            return;
        }
        if (text.get().length() > server.limits().textsByteSize()) {
            exchange.answerEmpty(Status.REQUEST_ENTITY_TOO_LARGE_413);
            return;
        }
        Optional<InferRequestHeader> header = MessageText.parse(text.get());
        if (header.isEmpty()) {
            exchange.answerEmpty(Status.BAD_REQUEST_400);
            return;
        }
        try {
            infer(exchange, path.value("model"), version(path.value("version")), header.get());
        } catch (GatunException e) {
            fail(exchange, header.get(), e);
        }
    }

    private void infer(Exchange exchange, String name, long version, InferRequestHeader header) {
        ModelVersion model = api.requests().model(name, version);
        Optional<RequestTrace> trace = exchange.beginTrace(server, model);
        try {
            InferenceRequest request = read(exchange, model, version, header);
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
            trace.ifPresent(request::trace);
            try (InferenceResponse response =
                    exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
                trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
                trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
                try (V1InferResponse answer = V1InferResponse.of(header, model, response, server.heap())) {
                    send(exchange, answer);
                }
                trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
            } catch (GatunException e) {
                throw request.afterRun(e); // there may be no memory for the response
            }
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private InferenceRequest read(Exchange exchange, ModelVersion model, long version, InferRequestHeader header) {
        RequestBody.Landed body = exchange.body().land(server.buffers(), 0, Long.MAX_VALUE, byteSize -> {
            throw new AssertionError("a body of " + byteSize + " bytes is refused by the pool alone");
        });
        BodyData data = new BodyData(server.buffers(), body);
        try {
            InferenceRequest request =
                    api.requests().request(model, version, header, exchange.location(), ORIGIN, data);
            request.sender(exchange.sender());
            request.hold(body.buffer());
            return request;
        } catch (Throwable t) {
            body.buffer().close();
            throw t;
        }
    }

    private void send(Exchange exchange, V1InferResponse answer) {
        byte[] trailer = MessageBody.isBinary(exchange)
                ? answer.header().toByteArray()
                : MessageText.lines(answer.header()).getBytes(StandardCharsets.UTF_8);
        List<MemorySegment> raw = answer.raw();
        MemorySegment[] pieces = new MemorySegment[raw.size() + 1];
        for (int i = 0; i < raw.size(); i++) {
            pieces[i] = raw.get(i);
        }
        pieces[raw.size()] = MemorySegment.ofArray(trailer);
        tell(exchange, answer.header(), api.statuses().success());
        exchange.answer(ResponseHeaders.of(OK), exchange.json(), pieces, pieces.length);
    }

    private void fail(Exchange exchange, InferRequestHeader header, GatunException failure) {
        InferResponseHeader onlyId =
                InferResponseHeader.newBuilder().setId(header.getId()).build();
        tell(exchange, onlyId, api.statuses().failure(failure));
        exchange.answer(ResponseHeaders.of(FAILED), exchange.json());
    }

    private static void tell(Exchange exchange, InferResponseHeader header, RequestStatus outcome) {
        exchange.header(RESPONSE, MessageText.line(header));
        exchange.header(ControlRoute.STATUS, MessageText.line(outcome));
    }

    /** A version as paths give it; one beyond a number's range stands for none. */
    private static long version(String digits) {
        if (digits.isEmpty()) {
            return V1InferRequests.LATEST_VERSION;
        }
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    /** The inputs' data as it lies in a body, one after the other without gaps. For one request. */
    static final class BodyData implements InputData {
        private final BufferPool buffers;
        private final MemorySegment body;
        private long at;

        BodyData(BufferPool buffers, RequestBody.Landed landed) {
            this.buffers = buffers;
            this.body = landed.segment().asSlice(landed.offset(), landed.byteSize());
        }

        @Override
        public MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request) {
            long available = body.byteSize() - at;
            if (Long.compareUnsigned(byteSize, available) > 0) {
                throw GatunException.invalidArgument("unexpected size for input '" + input + "', expecting "
                        + Long.toUnsignedString(byteSize - available) + " bytes for model '"
                        + request.model().name() + "'");
            }
            MemorySegment bytes = body.asSlice(at, byteSize);
            at += byteSize;
            if (datatype.isFixedSize() && (bytes.address() & (datatype.byteSize() - 1)) != 0) {
                Buffer aligned = buffers.take(byteSize);
                request.hold(aligned);
                CooperativeCopy.copy(bytes, aligned.segment());
                return aligned.segment();
            }
            return bytes;
        }

        @Override
        public void end(InferenceRequest request) {
            if (at != body.byteSize()) {
                throw GatunException.invalidArgument("unexpected additional input data for model '"
                        + request.model().name() + "'");
            }
        }

        @Override
        public GatunException wrongWindow(String input, long byteSize, long expected, String model) {
            return GatunException.invalidArgument("unexpected shared-memory size " + Long.toUnsignedString(byteSize)
                    + " for input '" + input + "', expecting " + expected + " for model '" + model + "'");
        }
    }
}
