// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;

/** How paths are compared, and how requests without a route are answered, by protocol. Thread-safe. */
public interface RouteConventions {
    /** Answers a request whose path no route has. */
    void answerUnknownPath(Exchange exchange);

    /** Answers a request whose path has other methods only: {@code allowed}, separated by commas. */
    void answerOtherMethod(Exchange exchange, String allowed);

    /** Whether HEAD is answered by the route for GET, without the body, and OPTIONS tells the methods. */
    boolean answersHeadAndOptions();

    /** Whether the case of a segment that is a literal makes no difference. */
    boolean ignoresCase();

    /** HTTP's own rules: 404, and 405 with {@code Allow}; the texts are JSON, as of any failure. Case counts. */
    public static final class StandardConventions implements RouteConventions {
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

    /** Answers without a body to requests without a route: 400, or 405 for the wrong method. Case counts. */
    public static class BareConventions implements RouteConventions {
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
}
