// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.MalformedResponseException;
import gatun.client.UnreachableException;
import gatun.client.calls.Deadline;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One unary call, all on the caller's thread, which reads the response in place. Only {@link #execute} is not. */
final class UnaryExchange<Q, A> extends ClientCall.Listener<A> implements Executor {
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private @Nullable A response;
    private @Nullable Status status;
    private Metadata trailers = new Metadata();
    private boolean headers;
    private boolean interrupted;
    private boolean surplus;

    /**
     * Returns when the call has ended. {@code whenConnected}: only this thread may read the request. gRPC must then
     * take the method for one of a stream.
     */
    void run(ClientCall<Q, A> call, Q request, boolean whenConnected) {
        call.start(this, new Metadata());
        // Two, so that a surplus response is noticed.
        call.request(2);
        // Until then gRPC keeps messages, and reads them later on a thread that may not touch memory of this one.
        while (whenConnected && status == null && !call.isReady()) {
            runNext(call);
        }
        if (status == null) {
            call.sendMessage(request);
            call.halfClose();
        }
        while (status == null) {
            runNext(call);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    A answer(Deadline deadline, Supplier<String> what, String address) {
        Status end = status;
        A received = response;
        if (end != null && end.isOk() && received != null && !surplus && !interrupted) {
            return received;
        }
        if (received instanceof InferResponseMessage reply) {
            reply.close();
        }
        if (interrupted) {
            throw new UnreachableException(what.get() + " of " + address + " was given up: the thread was interrupted");
        }
        if (end == null || end.isOk()) {
            throw new MalformedResponseException(what.get() + " of " + address + ": the server sent "
                    + (surplus ? "more than one answer" : "no answer") + ": expected one");
        }
        throw GrpcFailures.of(end, headers, trailers, deadline, what.get(), address);
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void onHeaders(Metadata received) {
        headers = true;
    }

    @Override
    public void onMessage(A message) {
        if (response == null) {
            response = message;
            return;
        }
        surplus = true;
        if (message instanceof InferResponseMessage reply) {
            reply.close();
        }
    }

    @Override
    public void onClose(Status end, Metadata received) {
        status = end;
        trailers = received;
    }

    private void runNext(ClientCall<Q, A> call) {
        Runnable task;
        try {
            task = tasks.take();
        } catch (InterruptedException e) {
            interrupted = true;
            call.cancel("the thread was interrupted", e);
            return;
        }
        task.run();
    }
}
