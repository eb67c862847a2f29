/** What both edges need of the listener that accepts their connections: its channels, and TLS. */
@NullMarked
package gatun.listener;

import org.jspecify.annotations.NullMarked;
