// SPDX-License-Identifier: Apache-2.0
/**
 * A lane: request slots in memory that a client and the server share, and two words by which each wakes the other. The
 * same for both sides, neither of which this knows.
 */
@NullMarked
package gatun.memory.lane;

import org.jspecify.annotations.NullMarked;
