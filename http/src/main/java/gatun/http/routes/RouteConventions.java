// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;

/**
 * The conventions that differ between protocols: how paths are compared, and how requests are answered that no route
 * takes. Safe for any thread.
 */
public interface RouteConventions {
    /** Answers a request whose path no route has. */
    void answerUnknownPath(Exchange exchange);

    /**
     * Answers a request whose path some route has, but not with this method.
     *
     * @param allowed the methods of the path, separated by commas
     */
    void answerOtherMethod(Exchange exchange, String allowed);

    /** Whether HEAD is answered by the route for GET, without the body, and OPTIONS tells the methods. */
    boolean answersHeadAndOptions();

    /** Whether the case of a segment that is a literal makes no difference. */
    boolean ignoresCase();
}
