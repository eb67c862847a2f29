// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientOptions;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Makes calls with one response, and waits for it on the caller's thread. Thread-safe. */
final class UnaryCalls {
    private final Channel channel;
    private final ClientOptions options;
    private volatile boolean closed;

    UnaryCalls(Channel channel, ClientOptions options) {
        this.channel = channel;
        this.options = options;
    }

    /** Makes a call that may be made twice, within the client's deadline. */
    <Q, A> A call(MethodDescriptor<Q, A> method, Q request, String what) {
        return call(method, request, deadline(), true, () -> what);
    }

    /** Makes a call. {@code deadline} is for all attempts together. */
    <Q, A> A call(
            MethodDescriptor<Q, A> method, Q request, Deadline deadline, boolean repeatable, Supplier<String> what) {
        return Attempts.make(options.retries(), deadline, repeatable, () -> once(method, request, deadline, what));
    }

    /** The deadline of a call that begins now and has none of its own. */
    Deadline deadline() {
        return Deadline.of(options.deadline());
    }

    String address() {
        return options.server().toString();
    }

    /** Refuses all calls from now on. */
    void close() {
        closed = true;
    }

    /** Refuses a call of a closed client. */
    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the client of " + address() + " was closed: make another one");
        }
    }

    private <Q, A> A once(MethodDescriptor<Q, A> method, Q request, Deadline deadline, Supplier<String> what) {
        requireOpen();
        CallOptions how = CallOptions.DEFAULT;
        if (deadline.isSet()) {
            long left = deadline.remainingNanos();
            if (left <= 0) {
                throw deadline.exceeded(what.get(), address());
            }
            how = how.withDeadlineAfter(left, TimeUnit.NANOSECONDS);
        }
        UnaryExchange<Q, A> exchange = new UnaryExchange<>();
        boolean whenConnected = !method.getType().clientSendsOneMessage();
        exchange.run(channel.newCall(method, how.withExecutor(exchange)), request, whenConnected);
        return exchange.answer(deadline, what, address());
    }
}
