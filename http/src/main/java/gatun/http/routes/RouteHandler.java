// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;

/** Answers the requests of one route. Safe for any thread. */
@FunctionalInterface
public interface RouteHandler {
    /**
     * Answers a request whose path and method are the route's.
     *
     * @param path the parts of the path that the route leaves open
     * @throws gatun.memory.tensor.GatunException to be answered as the failure it is
     */
    void answer(Exchange exchange, PathValues path);
}
