// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import static gatun.http.routes.RouteTable.Route.get;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.Routes;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable;
import gatun.protocol.ClientRegions;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The console's paths: {@code /console} (the page), {@code /} for browsers, {@code /v2/console} (the API). */
public final class ConsoleRoutes implements Routes, AutoCloseable {
    private static final String HOME = "/";
    private static final String PAGE = "/console";
    private static final String API = "/v2/console";

    private final ApiRoutes routes;
    private final RouteTable api;
    private final RouteTable page;
    private final PageFiles files = new PageFiles();

    /** The routes to {@code server}; {@code regions} says who may see the shared memory of clients. */
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
            exchange.markView();
            return page.answer(exchange);
        }
        if (isUnder(API, path)) {
            exchange.markView();
            return api.answer(exchange);
        }
        return false;
    }

    @Override
    public String root() {
        return API;
    }

    @Override
    public boolean answerUnknownPath(Exchange exchange) {
        String path = exchange.path();
        if (isUnder(PAGE, path)) {
            return page.answerUnknownPath(exchange);
        }
        return isUnder(API, path) && api.answerUnknownPath(exchange);
    }

    /** Answers browsers only: programs that ask {@code /} whether the server lives want something else. */
    private boolean answerBrowser(Exchange exchange) {
        boolean read = exchange.method().equals(Method.GET) || exchange.method().equals(Method.HEAD);
        if (!read
                || !exchange.header(HeaderNames.ACCEPT)
                        .orElse("")
                        .toLowerCase(Locale.ROOT)
                        .contains("text/html")) {
            return false;
        }
        exchange.markView();
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

    /** The page's files from the jar, without content of the server; browsers run nothing else. Thread-safe. */
    static final class PageFiles {
        static final String PAGE = "index.html";
        private static final String FOLDER = "/gatun/console/page/";

        /** At most two folders deep; nothing that begins with a dot. */
        private static final Pattern NAME = Pattern.compile("(?:[\\w-][\\w.-]*/){0,2}[\\w-][\\w.-]*\\.(\\w+)");

        private static final Map<String, String> TYPES = Map.of(
                "html", "text/html; charset=utf-8",
                "js", "text/javascript; charset=utf-8",
                "css", "text/css; charset=utf-8",
                "svg", "image/svg+xml",
                "json", "application/json",
                "txt", "text/plain; charset=utf-8");

        /** Only this server's scripts, styles and data, and pictures that a user drops. Never in a frame. */
        private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
                + " img-src 'self' blob: data:; connect-src 'self'; media-src 'self' blob:; base-uri 'none';"
                + " form-action 'none'; frame-ancestors 'none'";

        /** The files that were asked for, of which there are no more than the jar has. */
        private final Map<String, PageFile> files = new ConcurrentHashMap<>();

        /** A file as it is sent. */
        private static final class PageFile {
            private final byte[] bytes;

            /** Tells it from another version of it. */
            private final String tag;

            private final ResponseHeaders found;
            private final ResponseHeaders unchanged;

            PageFile(byte[] bytes, String type) {
                this.bytes = bytes;
                this.tag = '"' + digest(bytes) + '"';
                this.found = ResponseHeaders.of(ResponseHeaders.constant(headers(tag, "Content-Type: " + type)));
                this.unchanged = ResponseHeaders.of(
                        ResponseHeaders.constant(Status.NOT_MODIFIED_304, headers(tag, "Content-Type: " + type)));
            }

            void answer(Exchange exchange) {
                Optional<String> known = exchange.header(HeaderNames.IF_NONE_MATCH);
                if (known.isPresent() && known.get().contains(tag)) {
                    exchange.answerBodiless(unchanged);
                } else {
                    exchange.answer(found, exchange.json(found).raw(bytes, bytes.length));
                }
            }
        }

        /** Answers with the file of this name: a path beneath the page's folder. */
        void answer(Exchange exchange, String name) {
            PageFile file = find(name);
            if (file == null) {
                exchange.answerFailure(Status.NOT_FOUND_404, "Not Found");
                return;
            }
            file.answer(exchange);
        }

        private @Nullable PageFile find(String name) {
            PageFile known = files.get(name);
            if (known != null) {
                return known;
            }
            var parts = NAME.matcher(name);
            String type = parts.matches() ? TYPES.get(parts.group(1)) : null;
            if (type == null) {
                return null;
            }
            try (InputStream stream = PageFiles.class.getResourceAsStream(FOLDER + name)) {
                if (stream == null) {
                    return null;
                }
                PageFile read = new PageFile(stream.readAllBytes(), type);
                files.put(name, read);
                return read;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static String[] headers(String tag, String own) {
            return new String[] {
                own,
                "Cache-Control: no-cache",
                "ETag: " + tag,
                "Content-Security-Policy: " + POLICY,
                "X-Frame-Options: DENY",
                "X-Content-Type-Options: nosniff",
                "Referrer-Policy: no-referrer",
                "Cross-Origin-Opener-Policy: same-origin",
            };
        }

        private static String digest(byte[] bytes) {
            try {
                byte[] all = MessageDigest.getInstance("SHA-256").digest(bytes);
                return HexFormat.of().formatHex(all, 0, 16);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // every Java has it
            }
        }
    }
}
