// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.calls.GrpcCall;
import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.frames.OutboundMessage;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.InferenceService;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One call for one inference. Its thread runs the request, parked while the engine computes, and answers. */
public final class InferenceCall<M extends InferenceCall.Message> extends ServerCall.Listener<M> {
    /** A request's message, which owns the memory that it lies in. */
    public interface Message extends AutoCloseable {
        /** The whole message. */
        MemorySegment bytes();

        /** Takes over the claim on the memory, once. */
        void own(Hold hold);

        /** Hands the claim on the memory to the caller, who closes it; {@link #close()} does nothing then. */
        Hold takeOwnership();

        /** Gives the memory back, unless somebody took it. */
        @Override
        void close();
    }

    /** Converts a protocol's messages to requests, and responses to messages. Safe for any thread. */
    public interface Exchange<M extends Message> {
        /**
         * Takes over the message's memory; the caller owns the request and ends its trace. Holds nothing if it throws:
         * {@link GatunException} in the protocol's words, StatusRuntimeException for gRPC's own codes.
         */
        InferenceRequest request(M message, Metadata headers);

        /**
         * The message of a response, which it takes over; {@code message} is the request's, whose memory is gone.
         * Throws {@link GatunException} where there can be none; the response is closed then.
         */
        OutboundMessage answer(M message, InferenceResponse response);

        /** Called when the call has ended, for counters. Does nothing by default. */
        default void ended(M message, Status status) {}

        /** The status that a client gets for a failure. */
        default Status failure(GatunException failure) {
            return StatusTable.toStatus(failure);
        }

        /** The message that reports a failure, in a protocol where such calls succeed all the same; empty in others. */
        default Optional<OutboundMessage> failureMessage(M message, GatunException failure) {
            return Optional.empty();
        }
    }

    /** The metadata of responses; only read. */
    private static final Metadata NONE = new Metadata();

    private final ServerCall<M, OutboundMessage> call;
    private final Metadata headers;
    private final InferenceService server;
    private final Exchange<M> exchange;

    /** Between the message and the end of the request; owned here. */
    private @Nullable M message;

    private InferenceCall(
            ServerCall<M, OutboundMessage> call, Metadata headers, InferenceService server, Exchange<M> exchange) {
        this.call = call;
        this.headers = headers;
        this.server = server;
        this.exchange = exchange;
    }

    /** Begins a call. */
    public static <M extends Message> ServerCall.Listener<M> begin(
            ServerCall<M, OutboundMessage> call, Metadata headers, InferenceService server, Exchange<M> exchange) {
        // One more than is right, to notice a client that sends it.
        call.request(2);
        return new InferenceCall<>(call, headers, server, exchange);
    }

    @Override
    public void onMessage(M next) {
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
        M request = message;
        message = null;
        if (request == null) {
            call.close(Status.INVALID_ARGUMENT.withDescription("the call has no request"), new Metadata());
            return;
        }
        Optional<RequestTrace> trace = Optional.empty();
        try {
            OutboundMessage answer;
            try {
                InferenceRequest inference = exchange.request(request, headers);
                trace = inference.trace();
                noteSender(call, inference);
                Deadline deadline = Context.current().getDeadline();
                if (deadline != null) {
                    inference.timeLeftNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS));
                }
                giveUpWith(call, inference);
                answer = answer(request, inference);
            } catch (GatunException e) {
                Optional<OutboundMessage> told = exchange.failureMessage(request, e);
                if (told.isEmpty()) {
                    fail(request, exchange.failure(e));
                    return;
                }
                answer = told.get();
            } catch (StatusRuntimeException e) {
                fail(request, e.getStatus());
                return;
            }
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_START));
            call.sendHeaders(NONE);
            call.sendMessage(answer);
            call.close(Status.OK, NONE);
            exchange.ended(request, Status.OK);
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_END));
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    /** Says who has made a request: whoever is at the other end of the call's connection. */
    static void noteSender(ServerCall<?, ?> call, InferenceRequest inference) {
        ClientQuotaKey sender = call.getAttributes().get(GrpcConnectionSelector.SENDER);
        if (sender != null) {
            inference.sender(sender);
        }
    }

    private static void giveUpWith(ServerCall<?, ?> call, InferenceRequest inference) {
        if (call instanceof GrpcCall<?, ?> ours) {
            ours.onCancelled(() -> inference.cancellation().cancel());
        }
    }

    private OutboundMessage answer(M request, InferenceRequest inference) {
        try {
            return exchange.answer(request, server.infer(inference));
        } catch (GatunException e) {
            throw inference.afterRun(e); // there may be no memory for the response
        }
    }

    private void fail(M request, Status status) {
        call.close(status, new Metadata());
        exchange.ended(request, status);
    }

    @Override
    public void onCancel() {
        if (message != null) {
            message.close();
            message = null;
        }
    }

    /** The begin of a trace over gRPC. */
    public static final class CallTrace {
        private static final Metadata.Key<String> TRACEPARENT =
                Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

        private CallTrace() {}

        /** Begins the trace of a request that is being read; empty for most, not traced. The caller ends it. */
        public static Optional<RequestTrace> begin(ServerResources server, ModelVersion model, Metadata headers) {
            Optional<RequestTrace> trace = server.tracing()
                    .begin(
                            model.name(),
                            model.version(),
                            headers,
                            metadata -> Optional.ofNullable(metadata.get(TRACEPARENT)));
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_WAITREAD_START));
            return trace;
        }
    }
}
