/** Where runs go, and what is learned of them. */
@NullMarked
package gatun.runtime.placement;

import org.jspecify.annotations.NullMarked;
