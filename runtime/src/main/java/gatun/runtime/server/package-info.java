/**
 * The runtime put together: {@link gatun.runtime.server.GatunServer} from its options, and how the protocols see it.
 */
@NullMarked
package gatun.runtime.server;

import org.jspecify.annotations.NullMarked;
