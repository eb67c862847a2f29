/** Protobuf's wire format, read without making messages of it: a cursor for the decoders of servers and clients. */
@NullMarked
package gatun.wire;

import org.jspecify.annotations.NullMarked;
