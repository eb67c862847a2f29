/** Requests to a server of this process's own, before it is ready, so that its code is compiled when clients come. */
@NullMarked
package gatun.server.warmup;

import org.jspecify.annotations.NullMarked;
