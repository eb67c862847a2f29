/**
 * The tools with which services read and write their messages: protobuf's wire format, strings that recur, tensors that
 * must be aligned, and the table from failures to gRPC's status. Knows no protocol.
 */
@NullMarked
package gatun.grpc.message;

import org.jspecify.annotations.NullMarked;
