/** Counts what models do. */
@NullMarked
package gatun.runtime.statistics;

import org.jspecify.annotations.NullMarked;
