// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;

/** HTTP's own rules: 404, and 405 with {@code Allow}; the texts are JSON, as of any failure. Case counts. */
public final class StandardConventions implements RouteConventions {
    /** The only one that is needed. */
    public static final StandardConventions INSTANCE = new StandardConventions();

    private StandardConventions() {}

    @Override
    public void answerUnknownPath(Exchange exchange) {
        exchange.answerFailure(Status.NOT_FOUND_404, "Not Found");
    }

    @Override
    public void answerOtherMethod(Exchange exchange, String allowed) {
        if (exchange.method().equals(Method.OPTIONS)) {
            exchange.answerOptions(allowed);
        } else {
            exchange.header(HeaderNames.ALLOW, allowed);
            exchange.answerFailure(Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
        }
    }

    @Override
    public boolean answersHeadAndOptions() {
        return true;
    }

    @Override
    public boolean ignoresCase() {
        return false;
    }
}
