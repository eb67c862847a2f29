/** How much one client, and all of them together, may ask of the server beside tensors. */
@NullMarked
package gatun.runtime.limits;

import org.jspecify.annotations.NullMarked;
