package gatun.grpc.v2;

import gatun.grpc.connection.OutboundMessage;
import gatun.memory.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One ModelInfer call. Its thread runs the request, parked while the engine computes, and writes the answer itself. */
final class InferCall extends ServerCall.Listener<InferMessage> {
    private final ServerCall<InferMessage, OutboundMessage> call;
    private final Metadata headers;
    private final InferenceServer server;
    private final InferRequests requests;

    /** Between the message and the end of the request; owned here. */
    private @Nullable InferMessage message;

    private InferCall(
            ServerCall<InferMessage, OutboundMessage> call,
            Metadata headers,
            InferenceServer server,
            InferRequests requests) {
        this.call = call;
        this.headers = headers;
        this.server = server;
        this.requests = requests;
    }

    /** Begins a call. */
    static ServerCall.Listener<InferMessage> begin(
            ServerCall<InferMessage, OutboundMessage> call,
            Metadata headers,
            InferenceServer server,
            InferRequests requests) {
        // One more than is right, to notice a client that sends it.
        call.request(2);
        return new InferCall(call, headers, server, requests);
    }

    @Override
    public void onMessage(InferMessage next) {
        if (message != null) {
            next.close();
            message.close();
            message = null;
            call.close(
                    Status.INVALID_ARGUMENT.withDescription("a unary call has more than one request"), new Metadata());
            return;
        }
        message = next;
    }

    @Override
    public void onHalfClose() {
        InferMessage request = message;
        message = null;
        if (request == null) {
            call.close(Status.INVALID_ARGUMENT.withDescription("the call has no request"), new Metadata());
            return;
        }
        Optional<RequestTrace> trace = Optional.empty();
        try {
            OutboundMessage answer;
            try {
                InferenceRequest inference = requests.request(request, headers, false);
                trace = inference.trace();
                // The context is this call's own, and cancelled when the client is gone; also at the call's end, which
                // does no harm.
                Context.current()
                        .addListener(cancelled -> inference.cancellation().cancel(), Runnable::run);
                answer = InferEncoder.encode(server.infer(inference));
            } catch (GatunException e) {
                call.close(StatusTable.toStatus(e), new Metadata());
                return;
            }
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_START));
            call.sendHeaders(new Metadata());
            call.sendMessage(answer);
            call.close(Status.OK, new Metadata());
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_END));
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    @Override
    public void onCancel() {
        if (message != null) {
            message.close();
            message = null;
        }
    }
}
