// SPDX-License-Identifier: Apache-2.0
/** Flags of {@code gatun serve}, declared by the code that reads their values. */
@NullMarked
package gatun.protocol.flags;

import org.jspecify.annotations.NullMarked;
