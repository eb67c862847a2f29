/** Models that answer with each element of their input in turn. */
@NullMarked
package gatun.backend.repeat;

import org.jspecify.annotations.NullMarked;
