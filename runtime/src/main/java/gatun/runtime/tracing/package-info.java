/** Traces of single requests: which are taken, what they tell, and where they go. */
@NullMarked
package gatun.runtime.tracing;

import org.jspecify.annotations.NullMarked;
