/** Reads, completes and checks the configurations of models. */
@NullMarked
package gatun.runtime.configuration;

import org.jspecify.annotations.NullMarked;
