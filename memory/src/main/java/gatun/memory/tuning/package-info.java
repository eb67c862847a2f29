/** The choice between ways to do the same by trying them. */
@NullMarked
package gatun.memory.tuning;

import org.jspecify.annotations.NullMarked;
