/** The listener and services of gRPC, as the server module uses them. */
@NullMarked
package gatun.grpc;

import org.jspecify.annotations.NullMarked;
