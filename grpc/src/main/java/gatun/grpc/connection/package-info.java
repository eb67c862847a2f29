/**
 * One gRPC connection over HTTP/2, on a listener of Helidon's kind. It runs unchanged {@code io.grpc} service
 * definitions and knows no protocol of inference. A message lies in one pooled native buffer from the socket to its
 * marshaller, and a response is written from where it lies.
 *
 * <h2>Threads</h2>
 *
 * One virtual thread reads, and waits for the client only: other threads run the handlers and write. Each call has a
 * virtual thread of its own while there are events for its handler, and writes its responses itself, under the one lock
 * that orders frames. Calls for inference that come one at a time are run by the reading thread
 * ({@link gatun.grpc.connection.InlineCallRunner}), and another reads on when one waits or lasts
 * ({@link gatun.runtime.placement.LoanWatchdog}). {@link gatun.grpc.calls.CallServices.DeadlineTimer} runs the timers
 * of all.
 *
 * <h2>The way of a call</h2>
 *
 * <ol>
 *   <li>{@link gatun.grpc.connection.GrpcConnectionSelector} makes a {@link gatun.grpc.connection.GrpcConnection},
 *       whose thread cuts frames ({@link gatun.grpc.frames.FrameReader}), does what they ask for
 *       ({@link gatun.grpc.connection.FrameHandler}) and decodes headers ({@link gatun.grpc.headers.HeaderDecoder}).
 *   <li>{@link gatun.grpc.calls.CallAdmission} decides from the headers which method is called, or why none is. A
 *       {@link gatun.grpc.streams.GrpcStream} holds the windows of both directions, a
 *       {@link gatun.grpc.calls.GrpcCall} the call.
 *   <li>DATA goes straight into the message's buffer ({@code MessageAssembler}), which reaches
 *       the handler as an {@link gatun.grpc.streams.InboundMessage}.
 *   <li>The handler answers through {@code CallResponse}; {@link gatun.grpc.frames.FrameWriter}
 *       puts frames and native memory into one write.
 * </ol>
 *
 * <h2>Limits on clients</h2>
 *
 * Windows bound the bytes that wait to be read ({@code ReceiveWindow},
 * {@link gatun.grpc.connection.ConnectionStreams.ConnectionWindow}); frames that cost a client nothing are counted
 * ({@link gatun.grpc.connection.FloodGuard}, {@link gatun.grpc.connection.FloodGuard.PingStrikes});
 * {@link gatun.grpc.connection.ConnectionWatch} ends connections that are silent or too old,
 * {@link gatun.grpc.connection.ConnectionEnd} ends them in an order that clients can follow.
 */
@NullMarked
package gatun.grpc.connection;

import org.jspecify.annotations.NullMarked;
