/** Remembers responses, so that a request that came before is answered without the model. */
@NullMarked
package gatun.runtime.cache;

import org.jspecify.annotations.NullMarked;
