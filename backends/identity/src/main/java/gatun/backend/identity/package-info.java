/** Models whose outputs are their inputs. */
@NullMarked
package gatun.backend.identity;

import org.jspecify.annotations.NullMarked;
