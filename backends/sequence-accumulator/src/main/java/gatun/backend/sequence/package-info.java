/** Models that keep a sum for each sequence of requests. */
@NullMarked
package gatun.backend.sequence;

import org.jspecify.annotations.NullMarked;
