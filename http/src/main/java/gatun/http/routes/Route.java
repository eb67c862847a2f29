// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.Method;

/**
 * One row of a protocol's table.
 *
 * @param method the method of its requests
 * @param path the paths of its requests, as {@link PathPattern} writes them
 * @param group the group of requests that access is restricted by
 * @param summary what it does, in a few words for the description of the API
 * @param handler answers the requests
 */
public record Route(Method method, String path, ApiGroup group, String summary, RouteHandler handler) {
    /** A route of GET requests. */
    public static Route get(String path, ApiGroup group, String summary, RouteHandler handler) {
        return new Route(Method.GET, path, group, summary, handler);
    }

    /** A route of POST requests. */
    public static Route post(String path, ApiGroup group, String summary, RouteHandler handler) {
        return new Route(Method.POST, path, group, summary, handler);
    }

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
}
