/** The log settings of a server, and how they are changed while it runs. */
@NullMarked
package gatun.runtime.logging;

import org.jspecify.annotations.NullMarked;
