/** What the server module needs to serve gRPC. */
@NullMarked
package gatun.grpc;

import org.jspecify.annotations.NullMarked;
