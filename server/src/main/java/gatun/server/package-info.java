/**
 * Start and stop, and their output for the operator; the flags are in {@code commandline}, the log in {@code logging}.
 */
@NullMarked
package gatun.server;

import org.jspecify.annotations.NullMarked;
