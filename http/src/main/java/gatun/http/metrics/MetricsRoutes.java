// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.Routes;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.listener.OpenConnections;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import java.util.List;

/** The paths of the metrics port: the page, and nothing anywhere else. Safe for any thread. */
public final class MetricsRoutes implements Routes {
    private static final ResponseHeaders OK = ResponseHeaders.of(ResponseHeaders.constant(Status.OK_200));

    /** Of any path, so that the table answers those that it does not know, too. */
    private static final String ROOT = "";

    private final MetricsPage page;
    private final RouteTable table;

    /** Routes to the page about {@code server}, its {@code gpus} and {@code open} connections. */
    public MetricsRoutes(InferenceServer server, ShownMetrics shown, MetricSource gpus, OpenConnections open) {
        this.page = new MetricsPage(server, shown, gpus, open);
        this.table = new RouteTable(
                ROOT,
                List.of(Route.get(
                        "/metrics[/]",
                        ApiGroup.STATISTICS,
                        "The metrics, as Prometheus reads them",
                        (exchange, path) -> answerPage(exchange))),
                ApiAccess.open(),
                StandardConventions.INSTANCE);
    }

    private void answerPage(Exchange exchange) {
        String accept = exchange.header(HeaderNames.ACCEPT).orElse("");
        exchange.header(HeaderNames.CONTENT_TYPE, page.contentType(accept));
        JsonWriter text = exchange.json(OK);
        page.write(accept, text);
        exchange.answer(OK, text);
    }

    @Override
    public boolean answer(Exchange exchange) {
        return table.answer(exchange) || table.answerUnknownPath(exchange);
    }
}
