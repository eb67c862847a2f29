// SPDX-License-Identifier: Apache-2.0
/**
 * The v2 protocol over gRPC: messages become requests of the runtime, and its responses and failures messages. The
 * tensors of an inference are never copied to the heap; frames and sockets are unknown here.
 */
@NullMarked
package gatun.v2.grpc;

import org.jspecify.annotations.NullMarked;
