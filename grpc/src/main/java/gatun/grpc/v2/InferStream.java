package gatun.grpc.v2;

import gatun.grpc.connection.OutboundMessage;
import gatun.grpc.message.StatusTable;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ModelStreamInfer call. Its requests run at the same time, each on a thread of its own, up to a limit. Single answers go out in
 * the order of the requests, those of decoupled models as they come. A request that fails is answered too and does not end the stream,
 * unless the client asked for that.
 */
final class InferStream extends ServerCall.Listener<InferMessage> {
    /** Requests of one stream that may run or wait for their turn at a time. */
    static final int MAX_IN_FLIGHT = 32;

    private static final Logger LOG = LoggerFactory.getLogger(InferStream.class);
    private static final Metadata.Key<String> STRICT =
            Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("stream-request").factory();

    private final InferenceServer server;
    private final InferRequests requests;
    private final Metadata headers;
    private final boolean strict;
    private final StreamAnswers answers;
    private final SubmissionTurns turns = new SubmissionTurns();

    private InferStream(
            ServerCall<InferMessage, OutboundMessage> call,
            Metadata headers,
            InferenceServer server,
            InferRequests requests) {
        this.server = server;
        this.requests = requests;
        this.headers = headers;
        this.strict = "true".equals(headers.get(STRICT));
        answers = new StreamAnswers(call);
    }

    /** Begins a call. */
    static ServerCall.Listener<InferMessage> begin(
            ServerCall<InferMessage, OutboundMessage> call,
            Metadata headers,
            InferenceServer server,
            InferRequests requests) {
        call.sendHeaders(new Metadata());
        call.request(MAX_IN_FLIGHT);
        return new InferStream(call, headers, server, requests);
    }

    @Override
    public void onMessage(InferMessage message) {
        StreamAnswers.Place place = answers.next();
        if (place == null) {
            message.close();
            return;
        }
        SubmissionTurns.Turn turn = turns.next(message);
        THREADS.newThread(() -> run(message, place, turn)).start();
    }

    @Override
    public void onHalfClose() {
        answers.requestsEnded();
    }

    @Override
    public void onCancel() {
        answers.cancel();
    }

    private void run(InferMessage message, StreamAnswers.Place place, SubmissionTurns.Turn turn) {
        OutboundMessage answer = null;
        Status failure = null;
        boolean executed = false;
        AtomicBoolean submitted = new AtomicBoolean();
        Optional<RequestTrace> trace = Optional.empty();
        try {
            InferenceRequest request = requests.request(message, headers, true);
            trace = request.trace();
            executed = true;
            answers.begin(place, request);
            turn.await();
            request.onSubmitted(() -> {
                submitted.set(true);
                turn.end();
            });
            answer = request.model().decoupled() ? inferDecoupled(message, request) : inferOnce(request);
        } catch (GatunException e) {
            failure = StatusTable.toStatus(e);
            // No scheduler takes in the request of an ensemble itself, but a fault of the server came from a run of a
            // member.
            executed &= submitted.get() || e.code() == ErrorCode.INTERNAL || e.code() == ErrorCode.UNKNOWN;
        } catch (RuntimeException | Error e) {
            LOG.error("a request of a stream failed", e);
            failure = Status.UNKNOWN.withDescription("Application error processing RPC");
        } finally {
            turn.end();
        }
        if (failure != null && !strict) {
            answer = InferEncoder.encodeError(String.valueOf(failure.getDescription()), message, executed);
            failure = null;
        }
        try {
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_START));
            answers.finish(place, answer, failure);
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_END));
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private OutboundMessage inferOnce(InferenceRequest request) {
        OutboundMessage answer = InferEncoder.encodeStreamed(server.infer(request), true);
        request.trace().ifPresent(trace -> trace.reached(TraceStage.INFER_RESPONSE_COMPLETE));
        return answer;
    }

    /** Sends all answers but, where the client wants it, the empty one that says that no more will come: that is returned. */
    private @Nullable OutboundMessage inferDecoupled(InferMessage message, InferenceRequest request) {
        ModelVersion model = request.model();
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean ended = new AtomicBoolean();
        server.infer(request, (response, last) -> {
            if (begun.compareAndSet(false, true)) {
                request.trace().ifPresent(trace -> trace.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            }
            ended.set(last);
            answers.send(InferEncoder.encodeStreamed(response, last));
        });
        return ended.get() || !RequestParameters.wantsEmptyFinal(message)
                ? null
                : InferEncoder.encodeEmptyFinal(model.name(), model.versionText(), message.id());
    }
}
