/** The flags of {@code gatun}: what they are called, what they mean, and what is said about wrong ones. */
@NullMarked
package gatun.server.commandline;

import org.jspecify.annotations.NullMarked;
