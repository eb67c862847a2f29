// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import static gatun.http.routes.Route.get;

import gatun.console.ServerSurroundings;
import gatun.http.connection.Exchange;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.http.routes.StandardConventions;
import gatun.protocol.ClientRegions;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import java.util.List;
import java.util.Locale;

/**
 * The paths of the console: {@code /console} with the page's files, {@code /} for browsers, and {@code /v2/console} with
 * the API. To be asked before v2, which takes all of {@code /v2}. Safe for any thread.
 */
public final class ConsoleRoutes implements Routes, AutoCloseable {
    private static final String HOME = "/";
    private static final String PAGE = "/console";
    private static final String API = "/v2/console";

    private final ApiRoutes routes;
    private final RouteTable api;
    private final RouteTable page;
    private final PageFiles files = new PageFiles();

    /**
     * The routes to {@code server}.
     *
     * @param regions says who may see the shared memory of clients
     * @param access which groups of requests need which headers
     */
    public ConsoleRoutes(
            InferenceServer server, ServerSurroundings surroundings, ClientRegions regions, ApiAccess access) {
        this.routes = new ApiRoutes(server, surroundings, regions);
        this.api = new RouteTable(API, routes.rows(API), access, StandardConventions.INSTANCE);
        this.page = new RouteTable(
                PAGE,
                List.of(
                        get(PAGE, ApiGroup.CONSOLE, "The console's page", (exchange, path) -> answerPage(exchange)),
                        get(
                                PAGE + "/",
                                ApiGroup.CONSOLE,
                                "The console's page",
                                (exchange, path) -> answerPage(exchange)),
                        get(
                                PAGE + "/{file}",
                                ApiGroup.CONSOLE,
                                "A file of the console's page",
                                (exchange, path) -> files.answer(exchange, path.value("file"))),
                        get(
                                PAGE + "/{folder}/{file}",
                                ApiGroup.CONSOLE,
                                "A file of the console's page",
                                (exchange, path) ->
                                        files.answer(exchange, path.value("folder") + "/" + path.value("file"))),
                        get(
                                PAGE + "/{folder}/{inner}/{file}",
                                ApiGroup.CONSOLE,
                                "A file of a library of the console's page",
                                (exchange, path) -> files.answer(
                                        exchange,
                                        String.join(
                                                "/", path.value("folder"), path.value("inner"), path.value("file"))))),
                ApiAccess.open(),
                StandardConventions.INSTANCE);
    }

    private void answerPage(Exchange exchange) {
        files.answer(exchange, PageFiles.PAGE);
    }

    /** The paths of the API. */
    public RouteTable table() {
        return api;
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (path.equals(HOME)) {
            return answerBrowser(exchange);
        }
        if (isUnder(PAGE, path)) {
            return page.answer(exchange);
        }
        return isUnder(API, path) && api.answer(exchange);
    }

    /** Programs that ask {@code /} whether the server lives want something else. */
    private boolean answerBrowser(Exchange exchange) {
        boolean read = exchange.method().equals(Method.GET) || exchange.method().equals(Method.HEAD);
        if (!read
                || !exchange.header(HeaderNames.ACCEPT)
                        .orElse("")
                        .toLowerCase(Locale.ROOT)
                        .contains("text/html")) {
            return false;
        }
        exchange.header(HeaderNames.VARY, "Accept");
        answerPage(exchange);
        return true;
    }

    /** Ends the streams of events, soon; no more are begun. */
    public void endViewers() {
        routes.endViewers();
    }

    /** Ends the streams of events, and looks at the server no more. */
    @Override
    public void close() {
        routes.close();
    }

    private static boolean isUnder(String root, String path) {
        return path.startsWith(root) && (path.length() == root.length() || path.charAt(root.length()) == '/');
    }
}
