/** The flags of {@code gatun}: their names, their meanings, and the errors about wrong ones. */
@NullMarked
package gatun.server.commandline;

import org.jspecify.annotations.NullMarked;
