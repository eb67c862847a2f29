/** The server's side of engines in processes of their own. */
@NullMarked
package gatun.isolation;

import org.jspecify.annotations.NullMarked;
