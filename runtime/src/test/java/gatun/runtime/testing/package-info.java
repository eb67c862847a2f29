// SPDX-License-Identifier: Apache-2.0
/** The runtime for tests of other modules. */
@NullMarked
package gatun.runtime.testing;

import org.jspecify.annotations.NullMarked;
