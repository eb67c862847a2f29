/** Models that answer with their inputs after a while. */
@NullMarked
package gatun.backend.delay;

import org.jspecify.annotations.NullMarked;
