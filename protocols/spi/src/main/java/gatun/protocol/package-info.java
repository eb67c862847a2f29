// SPDX-License-Identifier: Apache-2.0
/** The interface of a protocol to the server: routes over HTTP, services over gRPC. */
@NullMarked
package gatun.protocol;

import org.jspecify.annotations.NullMarked;
