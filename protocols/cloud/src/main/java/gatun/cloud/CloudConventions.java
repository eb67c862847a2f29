// SPDX-License-Identifier: Apache-2.0
package gatun.cloud;

import gatun.http.connection.Exchange;
import gatun.http.routes.RouteConventions;
import io.helidon.http.Status;

/** The answers to requests that no route takes: 400 without a text, or 405. Case counts. */
public final class CloudConventions implements RouteConventions {
    /** 405 for a path with another method. */
    public static final CloudConventions INSTANCE = new CloudConventions();

    private CloudConventions() {}

    @Override
    public void answerUnknownPath(Exchange exchange) {
        exchange.answerEmpty(Status.BAD_REQUEST_400);
    }

    @Override
    public void answerOtherMethod(Exchange exchange, String allowed) {
        exchange.answerEmpty(Status.METHOD_NOT_ALLOWED_405);
    }

    @Override
    public boolean answersHeadAndOptions() {
        return false;
    }

    @Override
    public boolean ignoresCase() {
        return false;
    }
}
