/**
 * The values that protocols, schedulers and statistics share: requests, responses, models as seen from outside, and
 * what is counted of them.
 */
@NullMarked
package gatun.runtime;

import org.jspecify.annotations.NullMarked;
