// SPDX-License-Identifier: Apache-2.0
/** The client over a lane: inference in memory that the server shares, and HTTP over a Unix socket for the rest. */
@NullMarked
package gatun.client.lane;

import org.jspecify.annotations.NullMarked;
