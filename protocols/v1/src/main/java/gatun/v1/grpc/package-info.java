// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API over gRPC: all calls succeed, and report their outcome in the response. */
@NullMarked
package gatun.v1.grpc;

import org.jspecify.annotations.NullMarked;
