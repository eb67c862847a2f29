// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.headers.RequestHead;
import gatun.grpc.streams.GrpcStream;
import gatun.grpc.streams.Placement;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Decompressor;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * A call that was found to be all right and is about to begin; or several of one connection, one after the other.
 *
 * @param <Q> the request message
 * @param <R> the response message
 * @param method the method that the client calls
 * @param head the header block
 * @param decompressor unpacks compressed request messages
 * @param timeoutNanos how long the client will wait; empty for ever
 * @param services shared by all calls of the connection
 */
public record CallOpening<Q, R>(
        ServerMethodDefinition<Q, R> method,
        RequestHead head,
        Decompressor decompressor,
        OptionalLong timeoutNanos,
        CallServices services)
        implements GrpcStream.CallFactory {
    private static final Placement AT_THE_START = (start, byteSize) -> 0;

    @Override
    public Placement placement() {
        MethodDescriptor.Marshaller<Q> marshaller = method.getMethodDescriptor().getRequestMarshaller();
        return marshaller instanceof Placement placement ? placement : AT_THE_START;
    }

    /** Whether the call asks for one inference: only those have messages that are placed. */
    boolean isInference() {
        MethodDescriptor<Q, R> descriptor = method.getMethodDescriptor();
        return descriptor.getType() == MethodDescriptor.MethodType.UNARY
                && descriptor.getRequestMarshaller() instanceof Placement;
    }

    /** The context of one call, whose time begins now. */
    Context.CancellableContext newContext() {
        Context root = services.root(head);
        if (timeoutNanos.isEmpty()) {
            return root.withCancellation();
        }
        Deadline deadline = Deadline.after(timeoutNanos.getAsLong(), TimeUnit.NANOSECONDS);
        return root.withDeadline(deadline, services.timer().executor());
    }

    /** The server's text for a deadline, which is the client's own: either may be first, and users match on it. */
    String overdue() {
        double seconds = timeoutNanos.orElseThrow() / 1e9;
        return "CallOptions deadline exceeded after " + seconds + "s. [the server ended the call]";
    }

    @Override
    public GrpcCall<Q, R> open(GrpcStream stream) {
        return new GrpcCall<>(this, stream);
    }
}
