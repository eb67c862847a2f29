// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.Routes;
import gatun.http.json.JsonWriter;
import gatun.listener.OpenConnections;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;

/** The paths of the metrics port: the page, and nothing anywhere else. Safe for any thread. */
public final class MetricsRoutes implements Routes {
    private static final ResponseHeaders OK = ResponseHeaders.of(ResponseHeaders.constant(Status.OK_200));

    private final MetricsPage page;

    /** Routes to the page about {@code server}, its {@code gpus} and {@code open} connections. */
    public MetricsRoutes(InferenceServer server, ShownMetrics shown, MetricSource gpus, OpenConnections open) {
        this.page = new MetricsPage(server, shown, gpus, open);
    }

    private void answerPage(Exchange exchange, String accept) {
        JsonWriter text = exchange.json(OK);
        page.write(accept, text);
        exchange.answer(OK, text);
    }

    @Override
    public boolean answer(Exchange exchange) {
        boolean isPage = exchange.path().equals("/metrics") || exchange.path().equals("/metrics/");
        if (isPage && !exchange.method().equals(Method.GET)) {
            exchange.header(HeaderNames.ALLOW, "GET");
            exchange.answerFailure(Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
        } else if (isPage) {
            String accept = exchange.header(HeaderNames.ACCEPT).orElse("");
            exchange.header(HeaderNames.CONTENT_TYPE, page.contentType(accept));
            answerPage(exchange, accept);
        } else {
            exchange.answerFailure(Status.NOT_FOUND_404, "Not Found");
        }
        return true;
    }
}
