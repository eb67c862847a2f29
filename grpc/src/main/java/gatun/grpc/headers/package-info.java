// SPDX-License-Identifier: Apache-2.0
/** Header blocks of requests, decoded by HPACK, and those of responses, which never change its table. */
@NullMarked
package gatun.grpc.headers;

import org.jspecify.annotations.NullMarked;
