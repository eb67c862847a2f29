// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.calls.CallAdmission.CallOpening;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.streams.GrpcStream;
import gatun.grpc.streams.InboundMessage;
import gatun.grpc.streams.StreamCall;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessEntry;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call: gives the connection's events to the handler one after the other on a virtual thread, which exists only
 * while there are any. A call with one request message begins when its request is complete, so that one thread runs the
 * handler from beginning to end. Sending waits, parked, while the client's windows are empty. One thread at a time may
 * call its methods, not only the call's own.
 */
public final class GrpcCall<Q, R> extends ServerCall<Q, R> implements StreamCall {
    private static final Logger LOG = LoggerFactory.getLogger(GrpcCall.class);

    /** The listener of a call whose handler failed to make one. */
    private static final Listener<?> IGNORING = new Listener<Object>() {};

    /** The marshaller refused a message: its status is the response, where a handler's own would be UNKNOWN. */
    private static final class UnreadableMessage extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Status status;

        UnreadableMessage(Status status) {
            super(status.getDescription(), null, false, false);
            this.status = status;
        }
    }

    private static final AtomicLongFieldUpdater<GrpcCall<?, ?>> UNFINISHED = unfinished();

    private final CallOpening<Q, R> opening;
    private final GrpcStream stream;
    private final CallProgress progress;
    private final Context.CancellableContext context;
    private final CallResponse<R> response;

    /** The work for what the client has not got a response to, in nanoseconds as {@link WorkBudgets} counts it. */
    @SuppressWarnings("UnusedVariable") // UNFINISHED reads it
    private volatile long unfinishedNanos = WorkBudgets.CALL_NANOS;

    private final @Nullable AccessEntry accessEntry;

    /** The bytes of the messages that the handler got. For the call's thread. */
    private long receivedByteSize;

    /** Used by the call's thread only, whichever it is at the moment. */
    @SuppressWarnings("unchecked") // it takes anything
    private Listener<Q> listener = (Listener<Q>) IGNORING;

    /** Run when the call is cancelled while its handler may be busy. */
    private volatile @Nullable Runnable onCancelled;

    /** Written before the call is cancelled, read after. */
    private volatile Status cancellation = Status.CANCELLED;

    public GrpcCall(CallOpening<Q, R> opening, GrpcStream stream) {
        this.opening = opening;
        this.stream = stream;
        this.accessEntry = opening.services().accessEntry(opening.head());
        this.response = new CallResponse<>(opening, stream);
        this.progress = new CallProgress(getMethodDescriptor().getType().clientSendsOneMessage(), response);
        this.context = opening.newContext();
    }

    @SuppressWarnings("unchecked") // a class has no type arguments
    private static AtomicLongFieldUpdater<GrpcCall<?, ?>> unfinished() {
        return (AtomicLongFieldUpdater<GrpcCall<?, ?>>)
                (AtomicLongFieldUpdater<?>) AtomicLongFieldUpdater.newUpdater(GrpcCall.class, "unfinishedNanos");
    }

    // Called by the connection. None of these waits.

    @Override
    public void received(int byteCount) {
        UNFINISHED.addAndGet(this, WorkBudgets.ofBytes(byteCount));
    }

    @Override
    public void watchDeadline() {
        Deadline deadline = context.getDeadline();
        if (deadline == null) {
            return;
        }
        context.addListener(
                ignored -> {
                    if (!progress.isCancelled() && !progress.isClosed() && deadline.isExpired()) {
                        stream.abort(Status.DEADLINE_EXCEEDED.withDescription(opening.overdue()));
                    }
                },
                Runnable::run);
    }

    @Override
    public void messageArrived(InboundMessage message) {
        UNFINISHED.addAndGet(this, WorkBudgets.REQUEST_NANOS);
        runIf(progress.messageArrived(message));
    }

    @Override
    public boolean requestEnded() {
        return progress.requestEnded();
    }

    @Override
    public void standBack() {
        progress.standBack();
    }

    @Override
    public void runApart() {
        opening.services().threads().newThread(this).start();
    }

    @Override
    public boolean isInference() {
        return opening.isInference();
    }

    @Override
    public GrpcStream stream() {
        return stream;
    }

    @Override
    public void windowOpened() {
        runIf(progress.windowOpened());
    }

    @Override
    public void cancel(Status why) {
        cancellation = why;
        CallProgress.Cancellation cancelled = progress.cancel();
        if (cancelled != CallProgress.Cancellation.TOO_LATE) {
            countWork(why.getCode());
            if (accessEntry != null) {
                accessEntry.end(why.getCode().name());
            }
        }
        switch (cancelled) {
            case TOO_LATE -> {
                // The handler has closed the call, or knows.
            }
            case NEVER_BEGAN -> {
                context.cancel(null);
                stream.callEnded();
            }
            case MUST_RUN -> runIf(true);
            case RUNNING ->
                // What listens is the handler's code, for which neither the reader nor the timer may wait.
                opening.services().threads().newThread(() -> tellHandler(why)).start();
        }
    }

    private void tellHandler(Status why) {
        Runnable action = onCancelled;
        if (action != null) {
            action.run();
        }
        context.cancel(why.asRuntimeException());
    }

    /** The call is cancelled: by its client, unless the reason is the server's. */
    private void countWork(Status.Code why) {
        long nanos = UNFINISHED.getAndSet(this, 0);
        if (why == Status.Code.CANCELLED || why == Status.Code.DEADLINE_EXCEEDED) {
            stream.abandoned().add(nanos);
        } else {
            stream.abandoned().finish(nanos);
        }
    }

    private void finishWork() {
        long nanos = UNFINISHED.getAndSet(this, 0);
        if (nanos > 0) {
            stream.abandoned().finish(nanos);
        }
    }

    private void runIf(boolean necessary) {
        if (necessary) {
            runApart();
        }
    }

    // Run by the call's thread.

    @Override
    public void run() {
        Context previous = context.attach();
        if (accessEntry != null) {
            accessEntry.bind();
        }
        try {
            CallProgress.Step step = progress.next();
            while (step != CallProgress.Step.NOTHING) {
                perform(step);
                step = progress.next();
            }
        } finally {
            context.detach(previous);
            if (accessEntry != null) {
                AccessEntry.unbind();
            }
        }
    }

    private void perform(CallProgress.Step step) {
        try {
            switch (step) {
                case START -> start();
                case READY -> listener.onReady();
                case MESSAGE -> giveMessage(progress.takeMessage());
                case HALF_CLOSE -> listener.onHalfClose();
                case COMPLETE -> {
                    try {
                        listener.onComplete();
                    } finally {
                        context.cancel(null);
                        stream.callEnded();
                    }
                }
                case CANCEL -> {
                    response.abandon();
                    try {
                        context.cancel(cancellation.asRuntimeException());
                        listener.onCancel();
                    } finally {
                        stream.callEnded();
                    }
                }
                case NOTHING -> throw new AssertionError("nothing is not a step");
            }
        } catch (Throwable t) {
            handlerFailed(t);
        }
    }

    private void start() {
        try {
            listener = opening.method()
                    .getServerCallHandler()
                    .startCall(this, opening.head().metadataCopy());
        } finally {
            progress.started();
        }
    }

    private void giveMessage(InboundMessage next) {
        InboundMessage message = next;
        long byteSize = OutboundMessage.PREFIX_SIZE + message.segment().byteSize();
        receivedByteSize += byteSize;
        try {
            Q request;
            try {
                if (message.isCompressed()) {
                    message = opening.services().decompression().unpack(message, opening.decompressor());
                }
                request = getMethodDescriptor().parseRequest(message);
            } catch (StatusRuntimeException e) {
                throw new UnreadableMessage(e.getStatus());
            }
            stream.messageConsumed(byteSize);
            listener.onMessage(request);
        } finally {
            message.close();
        }
    }

    private void handlerFailed(Throwable t) {
        Status status;
        if (t instanceof UnreadableMessage unreadable) {
            status = unreadable.status;
        } else {
            LOG.error("the handler of {} failed", getMethodDescriptor().getFullMethodName(), t);
            status = Status.UNKNOWN.withDescription("Application error processing RPC");
        }
        if (!progress.isClosed()) {
            close(status, new Metadata());
        }
    }

    // Called by the handler.

    /** Runs {@code action}, in an earlier one's place, when the response is not wanted; at once if so. Any thread. */
    public void onCancelled(Runnable action) {
        onCancelled = action;
        if (progress.isCancelled()) {
            action.run();
        }
    }

    @Override
    public void request(int numMessages) {
        if (numMessages < 0) {
            throw new IllegalArgumentException("request(" + numMessages + ") must not be negative");
        }
        runIf(progress.requested(numMessages));
    }

    @Override
    public void sendHeaders(Metadata headers) {
        response.headers(headers);
    }

    @Override
    public void sendMessage(R message) {
        if (response.message(message, progress.isCancelled())) {
            finishWork();
        } else {
            cancel(Status.CANCELLED.withDescription("the client is gone"));
        }
        if (progress.isCancelled()) {
            response.abandon();
        }
    }

    @Override
    public void close(Status status, Metadata trailers) {
        if (!progress.beginClose()) {
            throw new IllegalStateException("the call is already closed");
        }
        boolean wentOut = false;
        try {
            wentOut = response.close(status, trailers);
        } finally {
            if (accessEntry != null) {
                accessEntry.byteSizes(receivedByteSize, response.sentByteSize());
                accessEntry.end(status.getCode().name());
            }
            if (wentOut) {
                finishWork();
            }
            runIf(progress.endClose(wentOut));
        }
    }

    @Override
    public boolean isReady() {
        if (!progress.isClosed() && response.isReady()) {
            return true;
        }
        progress.wantReady();
        // The window may have opened in between, and nobody else would tell.
        runIf(progress.windowOpened());
        return false;
    }

    @Override
    public boolean isCancelled() {
        return progress.isCancelled();
    }

    @Override
    public void setCompression(String compressor) {
        response.compression(compressor);
    }

    @Override
    public void setMessageCompression(boolean enabled) {
        response.messageCompression(enabled);
    }

    @Override
    public Attributes getAttributes() {
        return opening.services().attributes();
    }

    @Override
    public @Nullable String getAuthority() {
        String authority = opening.head().authority();
        return authority.isEmpty() ? null : authority;
    }

    @Override
    public MethodDescriptor<Q, R> getMethodDescriptor() {
        return opening.method().getMethodDescriptor();
    }
}
