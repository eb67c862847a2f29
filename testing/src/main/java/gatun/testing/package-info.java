/** What the tests of several modules need; no part of the server. */
@NullMarked
package gatun.testing;

import org.jspecify.annotations.NullMarked;
