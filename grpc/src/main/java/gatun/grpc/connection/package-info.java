/**
 * A gRPC-over-HTTP/2 server connection that runs io.grpc service definitions on a Helidon listener. One virtual thread
 * reads a connection and never waits for a handler; calls run on virtual threads of their own and write their answers
 * themselves. A message lies in one pooled native buffer from the socket to its marshaller.
 */
@NullMarked
package gatun.grpc.connection;

import org.jspecify.annotations.NullMarked;
