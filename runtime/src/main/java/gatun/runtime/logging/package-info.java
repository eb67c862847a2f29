/** What a server logs, and how it is changed while it runs. */
@NullMarked
package gatun.runtime.logging;

import org.jspecify.annotations.NullMarked;
