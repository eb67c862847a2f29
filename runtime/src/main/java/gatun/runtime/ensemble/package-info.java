/** Runs models that are made of other models. */
@NullMarked
package gatun.runtime.ensemble;

import org.jspecify.annotations.NullMarked;
