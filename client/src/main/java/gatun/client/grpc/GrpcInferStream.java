// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientException;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.StreamReceiver;
import gatun.client.UnreachableException;
import gatun.client.calls.Deadline;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A stream's callbacks, one at a time on virtual threads; a taken response requests the next. */
final class GrpcInferStream extends ClientCall.Listener<InferResponseMessage> implements InferStream {
    private static final String FINAL_RESPONSE = "triton_final_response";
    private static final String WHAT = "the stream";
    /** The interval at which a busy receiver that sends looks for room, since it cannot be called then. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ClientCall<InferRequestMessage, InferResponseMessage> call;
    private final StreamReceiver receiver;
    private final String address;
    /** Names of outputs that requests wanted in regions, where they come without bytes. */
    private final Set<String> inRegions = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    /** Signalled when there may be room to send, and at the end. */
    private final Condition changed = lock.newCondition();
    /** No more requests. Guarded by {@link #lock}. */
    private boolean halfClosed;
    /** The call was cancelled, for whatever reason. Guarded by {@link #lock}. */
    private boolean givenUp;
    /** Nothing comes any more, and the receiver knows. Guarded by {@link #lock}. */
    private boolean ended;

    private volatile boolean cancelled;
    private volatile @Nullable Thread delivering;
    // Used in callbacks only.
    private @Nullable ResponseFields lastHead;
    private boolean headers;
    private @Nullable Throwable receiverFailure;

    private GrpcInferStream(
            ClientCall<InferRequestMessage, InferResponseMessage> call, StreamReceiver receiver, String address) {
        this.call = call;
        this.receiver = receiver;
        this.address = address;
    }

    static GrpcInferStream open(Channel channel, StreamReceiver receiver, String address) {
        CallOptions options = CallOptions.DEFAULT.withExecutor(
                task -> Thread.ofVirtual().name("gatun-stream").start(task));
        GrpcInferStream stream = new GrpcInferStream(channel.newCall(InferMethods.STREAM, options), receiver, address);
        stream.call.start(stream, new Metadata());
        stream.call.request(1);
        return stream;
    }

    @Override
    public void send(InferRequest request) {
        InferRequestMessage message = InferRequestMessage.of(request);
        for (InferOutput output : request.outputs()) {
            if (output instanceof InferOutput.InRegion) {
                inRegions.add(output.name());
            }
        }
        lock.lock();
        try {
            // Then the message is read by this thread, and now.
            while (!isOver() && !call.isReady()) {
                if (isInReceiver()) {
                    long ignored = changed.awaitNanos(LOOK_NANOS);
                } else {
                    changed.await();
                }
            }
            if (isOver()) {
                throw new IllegalStateException("the stream to " + address + " has ended: open another with stream()");
            }
            call.sendMessage(message);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnreachableException(
                    "the request to model '" + request.model() + "' was not sent on the stream to " + address
                            + ": the thread was interrupted while the server took no more",
                    e,
                    false);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!isOver()) {
                halfClosed = true;
                call.halfClose();
            }
            // When a receiver closes its own stream, the end would wait for that receiver.
            while (!ended && !isInReceiver()) {
                changed.await();
            }
        } catch (InterruptedException e) {
            cancel();
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        giveUp("the stream was cancelled", null);
    }

    @Override
    public void onHeaders(Metadata received) {
        headers = true;
    }

    @Override
    public void onReady() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onMessage(InferResponseMessage reply) {
        if (cancelled || receiverFailure != null) {
            reply.close();
            return;
        }
        delivering = Thread.currentThread();
        try (reply) {
            deliver(reply);
            call.request(1);
        } catch (ClientException e) {
            giveUp("the answer is malformed", e);
        } finally {
            delivering = null;
        }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        delivering = Thread.currentThread();
        try {
            if (cancelled) {
                return;
            }
            Throwable failure = receiverFailure;
            if (failure != null) {
                receiver.broken(new UnreachableException(
                        "the stream to " + address + " was given up, since its receiver failed: " + failure, failure));
            } else if (status.isOk()) {
                receiver.finished();
            } else {
                receiver.broken(failure(status, trailers));
            }
        } finally {
            delivering = null;
            lock.lock();
            try {
                ended = true;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private void deliver(InferResponseMessage reply) {
        ResponseFields head = lastHead;
        if (head == null || !head.matches(reply.head(), reply.headSize())) {
            head = ResponseFields.parse(reply.head(), reply.headSize());
            lastHead = head;
        }
        if (!reply.error().isEmpty()) {
            ServerException refusal =
                    new ServerException(StatusCode.UNKNOWN, Status.Code.UNKNOWN.value(), reply.error());
            String id = head.id();
            guarded(() -> receiver.failed(id, refusal));
            return;
        }
        InferResponse response = reply.toResponse(head, inRegions::contains);
        boolean last = Boolean.TRUE.equals(head.parameters().get(FINAL_RESPONSE));
        guarded(() -> receiver.answer(response, last));
    }

    /** A receiver that throws ends the stream. */
    private void guarded(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            receiverFailure = e;
            giveUp("the receiver failed", e);
        }
    }

    /** Cancels the call, which takes nothing more then, not even the end of the stream. */
    private void giveUp(String why, @Nullable Throwable cause) {
        lock.lock();
        try {
            givenUp = true;
            call.cancel(why, cause);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private ClientException failure(Status status, Metadata trailers) {
        RuntimeException failure = GrpcFailures.of(status, headers, trailers, Deadline.NONE, WHAT, address);
        return failure instanceof ClientException known
                ? known
                : new UnreachableException(String.valueOf(failure.getMessage()), failure);
    }

    private boolean isOver() {
        return ended || halfClosed || givenUp;
    }

    private boolean isInReceiver() {
        return Thread.currentThread().equals(delivering);
    }
}
