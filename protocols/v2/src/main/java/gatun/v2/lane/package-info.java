// SPDX-License-Identifier: Apache-2.0
/** The server's side of lanes: requests that come in shared memory, and the threads that look for them. */
@NullMarked
package gatun.v2.lane;

import org.jspecify.annotations.NullMarked;
