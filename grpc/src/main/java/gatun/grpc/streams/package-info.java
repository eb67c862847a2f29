// SPDX-License-Identifier: Apache-2.0
/** Streams: their windows, and the messages that come on them. Knows the calls that they carry by an interface. */
@NullMarked
package gatun.grpc.streams;

import org.jspecify.annotations.NullMarked;
