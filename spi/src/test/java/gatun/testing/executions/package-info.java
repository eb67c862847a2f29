// SPDX-License-Identifier: Apache-2.0
/** Runs that keep what a backend does with them, for the tests of backends. */
@NullMarked
package gatun.testing.executions;

import org.jspecify.annotations.NullMarked;
