/** The legacy v1 API over gRPC: the calls all succeed, and say in their answers what became of them. */
@NullMarked
package gatun.grpc.v1;

import org.jspecify.annotations.NullMarked;
