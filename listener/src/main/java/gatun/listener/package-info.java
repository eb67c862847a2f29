/** What both edges need of the listener that accepts their connections. */
@NullMarked
package gatun.listener;

import org.jspecify.annotations.NullMarked;
