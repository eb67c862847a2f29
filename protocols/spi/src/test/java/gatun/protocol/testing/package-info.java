// SPDX-License-Identifier: Apache-2.0
/** Listeners on real ports in front of the real runtime, and raw clients of them, for the tests of protocols. */
@NullMarked
package gatun.protocol.testing;

import org.jspecify.annotations.NullMarked;
