// SPDX-License-Identifier: Apache-2.0
/** What is made from the commands and flags for shells and for man: completion scripts, and the manual page. */
@NullMarked
package gatun.server.commandline.shell;

import org.jspecify.annotations.NullMarked;
