/**
 * Attacks of hostile clients on a server, for its integration tests and for the soak test. Knows protocols by their
 * bytes only.
 */
@NullMarked
package gatun.testing.attacks;

import org.jspecify.annotations.NullMarked;
