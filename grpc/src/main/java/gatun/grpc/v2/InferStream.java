package gatun.grpc.v2;

import gatun.grpc.connection.OutboundMessage;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceServer;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ModelStreamInfer call. Its requests run at the same time, each on a thread of its own, up to a limit; their answers
 * go out in the order of the requests. A request that fails is answered in its turn and does not end the stream, unless
 * the client asked for that.
 */
final class InferStream extends ServerCall.Listener<InferMessage> {
    /** Requests of one stream that may run or wait for their turn at a time. */
    static final int MAX_IN_FLIGHT = 32;

    private static final Logger LOG = LoggerFactory.getLogger(InferStream.class);
    private static final Metadata.Key<String> STRICT =
            Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("stream-request").factory();

    /** An answer, or that there is none yet. */
    private static final class Slot {
        // Guarded by the stream's lock.
        private @Nullable InferenceRequest request;
        private @Nullable OutboundMessage answer;
        private @Nullable Status failure;

        boolean isDone() {
            return answer != null || failure != null;
        }
    }

    private final ServerCall<InferMessage, OutboundMessage> call;
    private final InferenceServer server;
    private final InferRequests requests;
    private final boolean strict;
    private final SubmissionTurns turns = new SubmissionTurns();

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final ArrayDeque<Slot> slots = new ArrayDeque<>();
    private boolean sending;
    private boolean requestsEnded;
    private boolean over;

    private InferStream(
            ServerCall<InferMessage, OutboundMessage> call,
            InferenceServer server,
            InferRequests requests,
            boolean strict) {
        this.call = call;
        this.server = server;
        this.requests = requests;
        this.strict = strict;
    }

    /** Begins a call. */
    static ServerCall.Listener<InferMessage> begin(
            ServerCall<InferMessage, OutboundMessage> call,
            Metadata headers,
            InferenceServer server,
            InferRequests requests) {
        call.sendHeaders(new Metadata());
        call.request(MAX_IN_FLIGHT);
        return new InferStream(call, server, requests, "true".equals(headers.get(STRICT)));
    }

    @Override
    public void onMessage(InferMessage message) {
        Slot slot = new Slot();
        lock.lock();
        try {
            if (over) {
                message.close();
                return;
            }
            slots.add(slot);
        } finally {
            lock.unlock();
        }
        SubmissionTurns.Turn turn = turns.next(message);
        THREADS.newThread(() -> run(message, slot, turn)).start();
    }

    @Override
    public void onHalfClose() {
        lock.lock();
        try {
            requestsEnded = true;
        } finally {
            lock.unlock();
        }
        sendWhatIsDue();
    }

    @Override
    public void onCancel() {
        List<Slot> unanswered;
        lock.lock();
        try {
            unanswered = List.copyOf(slots);
            end();
        } finally {
            lock.unlock();
        }
        for (Slot slot : unanswered) {
            if (slot.request != null) {
                slot.request.cancellation().cancel();
            }
        }
    }

    private void run(InferMessage message, Slot slot, SubmissionTurns.Turn turn) {
        OutboundMessage answer = null;
        Status failure = null;
        boolean executed = false;
        try {
            InferenceRequest request = requests.request(message, true);
            executed = true;
            begin(slot, request);
            turn.await();
            request.onSubmitted(turn::end);
            answer = InferEncoder.encodeStreamed(server.infer(request));
        } catch (GatunException e) {
            failure = StatusTable.toStatus(e);
            executed &= e.code() == ErrorCode.INTERNAL || e.code() == ErrorCode.UNKNOWN;
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
        finish(slot, answer, failure);
        sendWhatIsDue();
    }

    /** Lets the end of the stream give the request up; at once when that has come already. */
    private void begin(Slot slot, InferenceRequest request) {
        lock.lock();
        try {
            if (!over) {
                slot.request = request;
                return;
            }
        } finally {
            lock.unlock();
        }
        request.cancellation().cancel();
    }

    private void finish(Slot slot, @Nullable OutboundMessage answer, @Nullable Status failure) {
        lock.lock();
        try {
            if (!over) {
                slot.request = null;
                slot.answer = answer;
                slot.failure = failure;
                return;
            }
        } finally {
            lock.unlock();
        }
        if (answer != null) {
            answer.close();
        }
    }

    /** Sends the answers whose turn it is, and the end of the stream; one thread at a time does. */
    private void sendWhatIsDue() {
        while (true) {
            Slot due;
            lock.lock();
            try {
                if (sending || over) {
                    return;
                }
                due = slots.peek();
                if (due == null ? !requestsEnded : !due.isDone()) {
                    return;
                }
                slots.poll();
                sending = true;
                if (due == null || due.failure != null) {
                    end();
                }
            } finally {
                lock.unlock();
            }
            send(due);
            lock.lock();
            try {
                sending = false;
            } finally {
                lock.unlock();
            }
        }
    }

    private void send(@Nullable Slot due) {
        if (due == null) {
            call.close(Status.OK, new Metadata());
        } else if (due.failure != null) {
            call.close(due.failure, new Metadata());
        } else if (due.answer != null) {
            call.sendMessage(due.answer);
            call.request(1);
        }
    }

    /** Nothing more will be sent: what waits for its turn gives its memory back. */
    private void end() {
        assert lock.isHeldByCurrentThread();
        over = true;
        for (Slot slot : slots) {
            if (slot.answer != null) {
                slot.answer.close();
            }
        }
        slots.clear();
    }
}
