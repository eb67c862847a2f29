// SPDX-License-Identifier: Apache-2.0
/** Waiting for sockets as Linux can, for whoever has their descriptors. */
@NullMarked
package gatun.bindings.sockets;

import org.jspecify.annotations.NullMarked;
