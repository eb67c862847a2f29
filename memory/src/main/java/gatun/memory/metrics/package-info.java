// SPDX-License-Identifier: Apache-2.0
/** Families of metrics as their owners publish them; whoever renders a page implements the sink. */
@NullMarked
package gatun.memory.metrics;

import org.jspecify.annotations.NullMarked;
