package gatun.grpc.connection;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call: takes events from the connection and gives them to the handler one after the other on a virtual thread, which
 * exists only while there are any. A unary call begins when its request is complete, so that one thread runs the handler
 * from begin to end; its answer goes out in one write. Sending waits, parked, while the client's windows are empty.
 *
 * <p>As {@link ServerCall} says, one thread at a time may call its methods, but it need not be the call's own.
 */
final class GrpcCall<Q, R> extends ServerCall<Q, R> implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(GrpcCall.class);

    /** What the handler is to be told next. */
    private enum Step {
        NOTHING,
        START,
        READY,
        MESSAGE,
        HALF_CLOSE,
        COMPLETE,
        CANCEL
    }

    /** A message that waits for the handler. */
    private record Arrived(InboundMessage message, boolean compressed, long byteSize) {}

    private static final class Ignoring<Q> extends Listener<Q> {}

    private final CallOpening<Q, R> opening;
    private final MethodDescriptor<Q, R> method;
    private final GrpcStream stream;
    private final boolean waitsForWholeRequest;
    private final Context.CancellableContext context;
    private final Response<R> response;

    private final ReentrantLock gate = new ReentrantLock();

    // Guarded by gate. The thread that runs the call reads listener without it.
    private final ArrayDeque<Arrived> arrived = new ArrayDeque<>(2);
    private Listener<Q> listener = new Ignoring<>();
    private boolean started;
    private boolean running;
    private int requested;
    private boolean requestEnded;
    private boolean halfCloseGiven;
    private boolean ended;
    private Status cancellation = Status.CANCELLED;

    // Written under the gate, read anywhere.
    private volatile boolean cancelled;
    private volatile boolean closed;

    /** Whether the handler was told that it must wait and is to hear when it need not any more. */
    private volatile boolean wantsReady;

    GrpcCall(CallOpening<Q, R> opening, GrpcStream stream) {
        this.opening = opening;
        this.method = opening.method().getMethodDescriptor();
        this.stream = stream;
        this.waitsForWholeRequest = method.getType().clientSendsOneMessage();
        this.response = new Response<>(method, stream, opening.head().acceptEncoding());
        // The first READY is not asked for.
        this.wantsReady = true;
        CallServices services = opening.services();
        if (opening.timeoutNanos().isPresent()) {
            Deadline deadline = Deadline.after(opening.timeoutNanos().getAsLong(), TimeUnit.NANOSECONDS);
            this.context = services.root().withDeadline(deadline, services.timer());
        } else {
            this.context = services.root().withCancellation();
        }
    }

    /** Begins to watch the deadline; once, after the stream knows this call. */
    void watchDeadline() {
        if (opening.timeoutNanos().isPresent()) {
            context.addListener(
                    cancelledContext -> {
                        if (!cancelled
                                && context.getDeadline() != null
                                && context.getDeadline().isExpired()) {
                            stream.abort(Status.DEADLINE_EXCEEDED.withDescription("the deadline of "
                                    + opening.head().timeout() + " passed before the call was answered"));
                        }
                    },
                    Runnable::run);
        }
    }

    // What the connection does. None of these waits.

    /** A message is complete. */
    void messageArrived(InboundMessage message, boolean compressed) {
        gate.lock();
        try {
            if (!cancelled && !closed) {
                long byteSize = OutgoingMessage.PREFIX_SIZE + message.segment().byteSize();
                arrived.add(new Arrived(message, compressed, byteSize));
                runIfNeeded();
                return;
            }
        } finally {
            gate.unlock();
        }
        message.close();
    }

    /** No more messages will come. */
    void requestEnded() {
        gate.lock();
        try {
            requestEnded = true;
            runIfNeeded();
        } finally {
            gate.unlock();
        }
    }

    /** Nobody waits for the answer any more. */
    void cancel(Status why) {
        boolean handlerIsBusy;
        boolean neverBegan;
        gate.lock();
        try {
            if (cancelled || closed || ended) {
                return;
            }
            cancelled = true;
            cancellation = why;
            handlerIsBusy = running;
            neverBegan = !started && !running;
            if (neverBegan) {
                endUnderGate();
            } else {
                runIfNeeded();
            }
        } finally {
            gate.unlock();
        }
        if (neverBegan) {
            context.cancel(null);
            stream.connection().callEnded();
        } else if (handlerIsBusy) {
            // The context's listeners are the handler's code, for which neither the reader nor the timer may wait.
            opening.services()
                    .threads()
                    .newThread(() -> context.cancel(why.asRuntimeException()))
                    .start();
        }
    }

    /** There is room to send again. Called under the writer's lock. */
    void windowOpened() {
        if (wantsReady && stream.isReady()) {
            gate.lock();
            try {
                runIfNeeded();
            } finally {
                gate.unlock();
            }
        }
    }

    private void runIfNeeded() {
        assert gate.isHeldByCurrentThread();
        if (!running && nextStep() != Step.NOTHING) {
            running = true;
            opening.services().threads().newThread(this).start();
        }
    }

    private Step nextStep() {
        assert gate.isHeldByCurrentThread();
        if (ended) {
            return Step.NOTHING;
        }
        if (!started) {
            boolean complete = requestEnded || arrived.size() > 1;
            return waitsForWholeRequest && !complete ? Step.NOTHING : Step.START;
        }
        if (cancelled) {
            return Step.CANCEL;
        }
        if (closed) {
            return Step.COMPLETE;
        }
        if (wantsReady && stream.isReady()) {
            return Step.READY;
        }
        if (!arrived.isEmpty()) {
            return requested > 0 ? Step.MESSAGE : Step.NOTHING;
        }
        return requestEnded && !halfCloseGiven ? Step.HALF_CLOSE : Step.NOTHING;
    }

    // What the call's thread does.

    @Override
    public void run() {
        Context previous = context.attach();
        try {
            while (true) {
                Step step;
                gate.lock();
                try {
                    step = nextStep();
                    if (step == Step.NOTHING) {
                        running = false;
                        return;
                    }
                } finally {
                    gate.unlock();
                }
                perform(step);
            }
        } finally {
            context.detach(previous);
        }
    }

    private void perform(Step step) {
        try {
            switch (step) {
                case START -> start();
                case READY -> {
                    wantsReady = false;
                    listener.onReady();
                }
                case MESSAGE -> giveMessage();
                case HALF_CLOSE -> {
                    halfCloseGiven = true;
                    listener.onHalfClose();
                }
                case COMPLETE -> {
                    end();
                    try {
                        listener.onComplete();
                    } finally {
                        context.cancel(null);
                    }
                }
                case CANCEL -> {
                    end();
                    context.cancel(cancellation.asRuntimeException());
                    listener.onCancel();
                }
                case NOTHING -> throw new AssertionError("nothing is not a step");
            }
        } catch (Throwable t) {
            handlerFailed(t);
        }
    }

    private void start() {
        Listener<Q> begun = new Ignoring<>();
        try {
            begun = opening.method()
                    .getServerCallHandler()
                    .startCall(this, opening.head().metadata());
        } finally {
            gate.lock();
            try {
                listener = begun;
                started = true;
            } finally {
                gate.unlock();
            }
        }
    }

    private void giveMessage() {
        Arrived next;
        gate.lock();
        try {
            next = arrived.remove();
            requested--;
        } finally {
            gate.unlock();
        }
        InboundMessage message = next.message();
        try {
            if (next.compressed()) {
                message = opening.services().decompression().unpack(message, opening.decompressor());
            }
            Q request = parse(message);
            stream.messageConsumed(next.byteSize());
            listener.onMessage(request);
        } finally {
            message.close();
        }
    }

    private Q parse(InboundMessage message) {
        try {
            return method.parseRequest(message);
        } catch (StatusRuntimeException e) {
            throw new UnreadableMessage(e.getStatus());
        }
    }

    /** The marshaller refused a message: its status is the answer, where a handler's own would be UNKNOWN. */
    private static final class UnreadableMessage extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Status status;

        UnreadableMessage(Status status) {
            super(status.getDescription(), null, false, false);
            this.status = status;
        }
    }

    private void handlerFailed(Throwable t) {
        Status status;
        if (t instanceof UnreadableMessage unreadable) {
            status = unreadable.status;
        } else {
            LOG.error("the handler of {} failed", method.getFullMethodName(), t);
            status = Status.UNKNOWN.withDescription("Application error processing RPC");
        }
        if (!closed) {
            close(status, new Metadata());
        }
    }

    private void end() {
        gate.lock();
        try {
            endUnderGate();
        } finally {
            gate.unlock();
        }
        stream.connection().callEnded();
    }

    private void endUnderGate() {
        assert gate.isHeldByCurrentThread();
        ended = true;
        arrived.forEach(waiting -> waiting.message().close());
        arrived.clear();
    }

    // What the handler does.

    @Override
    public void request(int numMessages) {
        if (numMessages < 0) {
            throw new IllegalArgumentException("request(" + numMessages + ") must not be negative");
        }
        gate.lock();
        try {
            requested = requested > Integer.MAX_VALUE - numMessages ? Integer.MAX_VALUE : requested + numMessages;
            runIfNeeded();
        } finally {
            gate.unlock();
        }
    }

    @Override
    public void sendHeaders(Metadata headers) {
        response.headers(headers);
    }

    @Override
    public void sendMessage(R message) {
        if (!response.message(message, cancelled)) {
            abandoned();
        }
    }

    @Override
    public void close(Status status, Metadata trailers) {
        gate.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the call is already closed");
            }
            closed = true;
        } finally {
            gate.unlock();
        }
        boolean sent = response.close(status, trailers);
        gate.lock();
        try {
            if (!sent) {
                cancelled = true;
            }
            runIfNeeded();
        } finally {
            gate.unlock();
        }
    }

    private void abandoned() {
        cancel(Status.CANCELLED.withDescription("the client is gone"));
    }

    @Override
    public boolean isReady() {
        boolean ready = !closed && stream.isReady();
        if (!ready) {
            wantsReady = true;
            if (stream.isReady()) {
                // The window opened in between: nobody else would tell.
                windowOpened();
            }
        }
        return ready;
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
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
        return method;
    }
}
