// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API over gRPC: the calls all succeed, and say in their responses what became of them. */
@NullMarked
package gatun.v1.grpc;

import org.jspecify.annotations.NullMarked;
