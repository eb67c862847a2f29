/** Start, stop and what the operator sees of both; the flags are in {@code commandline}, the log in {@code logging}. */
@NullMarked
package gatun.server;

import org.jspecify.annotations.NullMarked;
