/** {@code gatun top}: asks a server again and again, and shows its models in a terminal. */
@NullMarked
package gatun.server.top;

import org.jspecify.annotations.NullMarked;
