// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the handler for a path and a method: a protocol is a {@link gatun.http.routes.RouteTable}, whose rows also say
 * who may send requests, and describe the API. Knows no protocol.
 */
@NullMarked
package gatun.http.routes;

import org.jspecify.annotations.NullMarked;
