// SPDX-License-Identifier: Apache-2.0
/**
 * From a path and a method to who answers it: a protocol is a {@link gatun.http.routes.RouteTable}, whose rows also say
 * who may ask, and describe the API. Knows no protocol.
 */
@NullMarked
package gatun.http.routes;

import org.jspecify.annotations.NullMarked;
