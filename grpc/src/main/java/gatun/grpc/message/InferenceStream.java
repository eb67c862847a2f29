// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call for many inferences. Its requests reach their models in the order of the stream and run at the same time,
 * each on a thread, up to a limit. Single responses go out in that order, those of decoupled models as they come. A
 * request that fails is answered too and does not end the stream, unless the protocol has it so.
 */
public final class InferenceStream<M extends InferenceCall.Message> extends ServerCall.Listener<M> {
    /** Requests of one stream that may run or wait for their turn at a time. */
    public static final int MAX_IN_FLIGHT = 32;

    /** Converts a protocol's messages to requests, and responses to messages. Safe for any thread. */
    public interface Exchange<M extends InferenceCall.Message> {
        /**
         * The request that a message asks for. Takes over the message's memory; the caller owns the request, and ends
         * its trace. Throws {@link GatunException} with the protocol's text for what is wrong, nothing is held then.
         */
        InferenceRequest request(M message);

        /**
         * The message of a response, which it takes over, the only or the {@code last}; {@code message} is the
         * request's, its memory gone. Throws {@link GatunException} where there is none; the response is closed then.
         */
        OutboundMessage answer(M message, InferenceResponse response, boolean last);

        /** The message that ends the responses of a decoupled model when none of them was the last; empty for none. */
        Optional<OutboundMessage> end(M message, InferenceRequest request);

        /** A client's message for a failure, after acceptance if {@code executed}; empty when it ends the stream. */
        Optional<OutboundMessage> failure(M message, GatunException failure, boolean executed);

        /** The message for a decoupled model's failure in a response's place; empty if it ends the request. */
        default Optional<OutboundMessage> failureAmongOthers(M message, GatunException failure) {
            return Optional.empty();
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(InferenceStream.class);
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("stream-request").factory();

    private final ServerCall<M, OutboundMessage> call;
    private final InferenceService server;
    private final Exchange<M> exchange;
    private final StreamResponses responses;
    private final SubmissionOrder turns = new SubmissionOrder();

    private InferenceStream(ServerCall<M, OutboundMessage> call, InferenceService server, Exchange<M> exchange) {
        this.call = call;
        this.server = server;
        this.exchange = exchange;
        responses = new StreamResponses(call);
    }

    /** Begins a call. */
    public static <M extends InferenceCall.Message> ServerCall.Listener<M> begin(
            ServerCall<M, OutboundMessage> call, InferenceService server, Exchange<M> exchange) {
        call.sendHeaders(new Metadata());
        call.request(MAX_IN_FLIGHT);
        return new InferenceStream<>(call, server, exchange);
    }

    @Override
    public void onMessage(M message) {
        StreamResponses.Place place = responses.next();
        if (place == null) {
            message.close();
            return;
        }
        SubmissionOrder.Turn turn = turns.next();
        StreamEntry entry = StreamEntry.begin(message);
        THREADS.newThread(() -> run(message, place, turn, entry)).start();
    }

    @Override
    public void onHalfClose() {
        responses.requestsEnded();
    }

    @Override
    public void onCancel() {
        responses.cancel();
    }

    private void run(M message, StreamResponses.Place place, SubmissionOrder.Turn turn, StreamEntry entry) {
        entry.bind();
        Optional<OutboundMessage> answer = Optional.empty();
        GatunException failure = null;
        boolean executed = false;
        AtomicBoolean submitted = new AtomicBoolean();
        Optional<RequestTrace> trace = Optional.empty();
        try {
            InferenceRequest request = exchange.request(message);
            trace = request.trace();
            InferenceCall.noteSender(call, request);
            executed = true;
            responses.begin(place, request);
            turn.await();
            request.onSubmitted(() -> {
                submitted.set(true);
                turn.end();
            });
            answer = request.model().decoupled()
                    ? inferDecoupled(message, request, entry)
                    : Optional.of(inferOnce(message, request));
        } catch (GatunException e) {
            failure = e;
            // No scheduler takes in an ensemble's request itself, but the server's faults came from runs of members.
            executed &= submitted.get() || e.code() == ErrorCode.INTERNAL || e.code() == ErrorCode.UNKNOWN;
        } catch (RuntimeException | Error e) {
            LOG.error("a request of a stream failed", e);
            failure = new GatunException(ErrorCode.UNKNOWN, "Application error processing RPC", e);
        } finally {
            turn.end();
        }
        Status end = null;
        if (failure != null) {
            answer = exchange.failure(message, failure, executed);
            end = answer.isPresent() ? null : StatusTable.toStatus(failure);
        }
        answer.ifPresent(entry::counted);
        finish(place, answer.orElse(null), end, trace);
        entry.end(failure);
    }

    private void finish(
            StreamResponses.Place place,
            @Nullable OutboundMessage answer,
            @Nullable Status end,
            Optional<RequestTrace> trace) {
        try {
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_START));
            responses.finish(place, answer, end);
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_SEND_END));
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private OutboundMessage inferOnce(M message, InferenceRequest request) {
        OutboundMessage answer;
        try {
            answer = exchange.answer(message, server.infer(request), true);
        } catch (GatunException e) {
            throw request.afterRun(e); // there may be no memory for the response
        }
        request.trace().ifPresent(trace -> trace.reached(TraceStage.INFER_RESPONSE_COMPLETE));
        return answer;
    }

    /** Sends all responses but what ends them: that is returned. */
    private Optional<OutboundMessage> inferDecoupled(M message, InferenceRequest request, StreamEntry entry) {
        Sender sender = new Sender(message, request, entry);
        server.infer(request, sender);
        return sender.ended ? Optional.empty() : exchange.end(message, request);
    }

    /** Sends the responses of a decoupled model as they come. */
    private final class Sender implements ResponseReceiver {
        private final M message;
        private final InferenceRequest request;
        private final StreamEntry entry;
        private boolean begun;

        /** Whether the last response was marked so. */
        private boolean ended;

        Sender(M message, InferenceRequest request, StreamEntry entry) {
            this.message = message;
            this.request = request;
            this.entry = entry;
        }

        @Override
        public void accept(InferenceResponse response, boolean last) {
            begin();
            ended = last;
            responses.send(entry.counted(exchange.answer(message, response, last)));
        }

        @Override
        public void acceptFailure(GatunException reason) {
            begin();
            OutboundMessage answer =
                    exchange.failureAmongOthers(message, reason).orElseThrow(() -> reason);
            responses.send(entry.counted(answer));
        }

        private void begin() {
            if (!begun) {
                begun = true;
                request.trace().ifPresent(trace -> trace.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            }
        }
    }

    /** One stream request's entry in the access log; nothing without such a log. For one thread at a time. */
    static final class StreamEntry {
        private static final String TRANSPORT = "grpc_stream";

        private final @Nullable AccessEntry entry;
        private final long receivedByteSize;
        private long sentByteSize;

        private StreamEntry(@Nullable AccessEntry entry, long receivedByteSize) {
            this.entry = entry;
            this.receivedByteSize = receivedByteSize;
        }

        /** The entry of a request that has come on the call whose thread calls. */
        static StreamEntry begin(InferenceCall.Message message) {
            AccessEntry call = AccessEntry.current();
            return call == null
                    ? new StreamEntry(null, 0)
                    : new StreamEntry(call.onStream(TRANSPORT), message.bytes().byteSize());
        }

        /** The calling thread, which ends after the request, answers it. */
        void bind() {
            if (entry != null) {
                entry.bind();
            }
        }

        OutboundMessage counted(OutboundMessage message) {
            sentByteSize += message.byteSize();
            return message;
        }

        void end(@Nullable GatunException failure) {
            if (entry != null) {
                Status status = failure == null ? Status.OK : StatusTable.toStatus(failure);
                entry.byteSizes(receivedByteSize, sentByteSize);
                entry.end(status.getCode().name());
            }
        }
    }

    /** Keeps a stream's requests in order, though each has a thread. Used by the stream's reading thread. */
    static final class SubmissionOrder {
        /** The turn of one request. Awaited by the request's thread, which ends it. */
        static final class Turn {
            private final CountDownLatch ended = new CountDownLatch(1);
            private @Nullable Turn previous;

            private Turn(@Nullable Turn previous) {
                this.previous = previous;
            }

            /** Waits until the request before has been submitted, or has failed; it never waits for a response. */
            void await() {
                Turn before = previous;
                if (before == null) {
                    return;
                }
                previous = null; // so that a long stream keeps no chain of turns
                boolean interrupted = false;
                while (true) {
                    try {
                        before.ended.await();
                        break;
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }

            /** Lets the next request go, though not past those before this one; may be called again. */
            void end() {
                await();
                ended.countDown();
            }
        }

        private @Nullable Turn last;

        Turn next() {
            Turn turn = new Turn(last);
            last = turn;
            return turn;
        }
    }
}
