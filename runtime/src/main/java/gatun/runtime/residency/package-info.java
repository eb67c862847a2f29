// SPDX-License-Identifier: Apache-2.0
/**
 * Models of a repository that is larger than memory: each is loaded by the first request that needs it, and those that
 * were not used for the longest time make room for it.
 */
@NullMarked
package gatun.runtime.residency;

import org.jspecify.annotations.NullMarked;
