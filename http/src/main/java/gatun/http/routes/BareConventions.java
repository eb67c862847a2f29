// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import io.helidon.http.Status;

/**
 * The answers of protocols that say nothing to requests that no route takes: 400, or 405 where only the method is
 * wrong, both without a body. Case counts.
 */
public class BareConventions implements RouteConventions {
    /** These answers, or others for unknown paths. */
    public BareConventions() {}

    @Override
    public void answerUnknownPath(Exchange exchange) {
        exchange.answerEmpty(Status.BAD_REQUEST_400);
    }

    @Override
    public final void answerOtherMethod(Exchange exchange, String allowed) {
        exchange.answerEmpty(Status.METHOD_NOT_ALLOWED_405);
    }

    @Override
    public final boolean answersHeadAndOptions() {
        return false;
    }

    @Override
    public final boolean ignoresCase() {
        return false;
    }
}
