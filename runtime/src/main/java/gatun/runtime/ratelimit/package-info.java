/** Lets instances of all models share resources that a configuration names. */
@NullMarked
package gatun.runtime.ratelimit;

import org.jspecify.annotations.NullMarked;
