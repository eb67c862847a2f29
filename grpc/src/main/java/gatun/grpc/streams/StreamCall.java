// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import io.grpc.Status;

/** The call that a stream carries: {@link #run} has its handler answer, and nothing else here waits. */
public interface StreamCall extends Runnable {
    /** Begins to watch the deadline; once, when the connection knows the stream. */
    void watchDeadline();

    /** {@code byteCount} bytes of a message came. */
    void received(int byteCount);

    /** A message is complete. */
    void messageArrived(InboundMessage message);

    /** No more messages will come; whether this is to be run now: by the caller, or by a thread that it starts. */
    boolean requestEnded();

    /** Nobody runs this though it was to be run: it is cancelled next. */
    void standBack();

    /** Has a thread of its own run this. */
    void runApart();

    /** Whether it asks for one inference. */
    boolean isInference();

    GrpcStream stream();

    /** There may be room to send again. The writer calls it under its lock. */
    void windowOpened();

    /** Nobody waits for the response any more. */
    void cancel(Status why);
}
