/** What the edges see of the runtime: requests, responses, models and the server that answers them. */
@NullMarked
package gatun.runtime;

import org.jspecify.annotations.NullMarked;
