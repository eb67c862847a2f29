// SPDX-License-Identifier: Apache-2.0
/** Linux's ways to wait for sockets, by their descriptors. */
@NullMarked
package gatun.bindings.sockets;

import org.jspecify.annotations.NullMarked;
