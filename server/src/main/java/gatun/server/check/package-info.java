/** What {@code gatun check} does: loads every model of a repository, and reports what is wrong. */
@NullMarked
package gatun.server.check;

import org.jspecify.annotations.NullMarked;
