/**
 * One gRPC connection over HTTP/2, on a listener of Helidon's kind. It runs unchanged {@code io.grpc} service
 * definitions and knows no protocol of inference. A message lies in one pooled native buffer from the socket to its
 * marshaller, and a response is written from where it lies.
 *
 * <h2>Threads</h2>
 *
 * One virtual thread reads and never waits for anybody but the client: what handlers do, and what must be written, is
 * other threads' work. Each call has a virtual thread of its own while there is something to tell its handler, and
 * writes its responses itself, under the one lock that orders frames. {@link gatun.grpc.connection.DeadlineTimer} looks
 * at the clock for all.
 *
 * <h2>The way of a call</h2>
 *
 * <ol>
 *   <li>{@link gatun.grpc.connection.GrpcConnectionSelector} makes a {@link gatun.grpc.connection.GrpcConnection},
 *       whose thread cuts frames ({@link gatun.grpc.connection.FrameReader}) and decodes headers
 *       ({@link gatun.grpc.connection.HeaderDecoder}).
 *   <li>{@link gatun.grpc.connection.CallAdmission} decides from the headers which method is called, or why none is. A
 *       {@link gatun.grpc.connection.GrpcStream} holds the windows of both directions, a
 *       {@link gatun.grpc.connection.GrpcCall} the call.
 *   <li>DATA goes straight into the message's buffer ({@link gatun.grpc.connection.MessageAssembler}), which reaches
 *       the handler as an {@link gatun.grpc.connection.InboundMessage}.
 *   <li>The handler answers through {@link gatun.grpc.connection.Response}; {@link gatun.grpc.connection.FrameWriter}
 *       puts frames and native memory into one write.
 * </ol>
 *
 * <h2>What clients may cost</h2>
 *
 * Windows bound what waits to be read ({@link gatun.grpc.connection.ReceiveWindow},
 * {@link gatun.grpc.connection.ConnectionWindow}); frames that cost a client nothing are counted
 * ({@link gatun.grpc.connection.FloodGuard}, {@link gatun.grpc.connection.PingStrikes});
 * {@link gatun.grpc.connection.ConnectionWatch} ends connections that are silent or too old,
 * {@link gatun.grpc.connection.ConnectionEnd} in the order that clients can follow.
 */
@NullMarked
package gatun.grpc.connection;

import org.jspecify.annotations.NullMarked;
