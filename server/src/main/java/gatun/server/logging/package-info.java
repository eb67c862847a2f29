/** The form of log lines, and the places they go to. */
@NullMarked
package gatun.server.logging;

import org.jspecify.annotations.NullMarked;
