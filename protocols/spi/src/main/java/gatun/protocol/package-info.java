// SPDX-License-Identifier: Apache-2.0
/** What a protocol is to the server that speaks it: routes over HTTP, services over gRPC. */
@NullMarked
package gatun.protocol;

import org.jspecify.annotations.NullMarked;
