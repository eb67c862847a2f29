/** The command {@code gatun check}: loads every model of a repository, and reports their faults. */
@NullMarked
package gatun.server.check;

import org.jspecify.annotations.NullMarked;
