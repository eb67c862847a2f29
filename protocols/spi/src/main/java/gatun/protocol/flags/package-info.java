// SPDX-License-Identifier: Apache-2.0
/** Flags of {@code gatun serve}, as whoever reads their values declares them. */
@NullMarked
package gatun.protocol.flags;

import org.jspecify.annotations.NullMarked;
