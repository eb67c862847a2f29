/** Helpers for the tests of several modules; no part of the server. */
@NullMarked
package gatun.testing;

import org.jspecify.annotations.NullMarked;
