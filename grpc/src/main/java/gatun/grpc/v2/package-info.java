/**
 * The services of the v2 protocol over gRPC: they turn messages into what the runtime understands and its answers and
 * failures back. The tensors of an inference are never copied to the heap; frames and sockets are unknown here.
 */
@NullMarked
package gatun.grpc.v2;

import org.jspecify.annotations.NullMarked;
