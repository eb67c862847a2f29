/** The legacy v1 API, which clients of TensorRT Inference Server speak, as far as it is the same over HTTP and gRPC. */
@NullMarked
package gatun.v1;

import org.jspecify.annotations.NullMarked;
