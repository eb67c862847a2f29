// SPDX-License-Identifier: Apache-2.0
/** Calls: which ones a connection opens, the steps of their handlers, and their responses. */
@NullMarked
package gatun.grpc.calls;

import org.jspecify.annotations.NullMarked;
