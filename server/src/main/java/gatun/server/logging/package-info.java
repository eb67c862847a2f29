/** How log lines look and where they go. */
@NullMarked
package gatun.server.logging;

import org.jspecify.annotations.NullMarked;
