// SPDX-License-Identifier: Apache-2.0
package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.connection.Routes;
import gatun.runtime.access.HeaderRules;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;

/**
 * The paths of the v2 protocol. Model and region names are what stands between two slashes, as it was sent: nothing is
 * decoded. Safe for any thread.
 */
public final class V2Routes implements Routes {
    private static final String ROOT = "/v2";
    private static final String MODELS = "/v2/models/";
    private static final String VERSIONS = "/versions/";
    private static final String ALL_STATISTICS = "/v2/models/stats";

    private final RestrictedApis restricted;
    private final InferRoute infer;
    private final GenerateRoute generate;
    private final MetadataRoutes metadata;
    private final StatisticsRoutes statistics;
    private final LoggingRoutes logging;
    private final TraceRoutes trace;
    private final RepositoryRoutes repository;
    private final SharedMemoryRoutes sharedMemory;
    private final CudaMemoryRoutes cudaMemory;

    /**
     * Routes to {@code server}.
     *
     * @param maxInputByteSize the longest body of a request, in bytes
     * @param clientSharedMemory whether clients may register regions
     * @param headers which requests need which headers, and what of them models learn
     */
    public V2Routes(InferenceServer server, long maxInputByteSize, boolean clientSharedMemory, HeaderRules headers) {
        this.restricted = new RestrictedApis(headers.access());
        JsonBody jsonBody = new JsonBody(server, maxInputByteSize);
        this.infer = new InferRoute(server, maxInputByteSize, headers.forwarding());
        this.generate = new GenerateRoute(server, jsonBody, maxInputByteSize, headers.forwarding());
        this.metadata = new MetadataRoutes(server);
        this.statistics = new StatisticsRoutes(server);
        this.logging = new LoggingRoutes(server, jsonBody);
        this.trace = new TraceRoutes(server, jsonBody);
        this.repository = new RepositoryRoutes(server, jsonBody);
        this.sharedMemory = new SharedMemoryRoutes(server.regions(), clientSharedMemory, jsonBody);
        this.cudaMemory = new CudaMemoryRoutes(server.regions(), clientSharedMemory, jsonBody);
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (!path.startsWith(ROOT)) {
            return false;
        }
        if (restricted.refused(exchange, path)) {
            return true;
        }
        if (path.startsWith(MODELS) && !path.equals(ALL_STATISTICS)) {
            answerModel(exchange, path);
            return true;
        }
        switch (path) {
            case "/v2" -> get(exchange, metadata::server);
            case "/v2/health/live" -> get(exchange, metadata::live);
            case "/v2/health/ready" -> get(exchange, metadata::ready);
            case ALL_STATISTICS -> get(exchange, statistics::all);
            case "/v2/trace/setting" -> trace.answer(exchange);
            case "/v2/logging" -> getOrPost(exchange, logging::show, logging::change);
            default -> {
                if (!repository.answer(exchange, path)
                        && !sharedMemory.answer(exchange, path)
                        && !cudaMemory.answer(exchange, path)) {
                    notFound(exchange);
                }
            }
        }
        return true;
    }

    private void answerModel(Exchange exchange, String path) {
        int nameEnd = endOfName(path, MODELS.length());
        String model = path.substring(MODELS.length(), nameEnd);
        String version = "";
        int at = nameEnd;
        if (path.startsWith(VERSIONS, at)) {
            at = endOfName(path, at + VERSIONS.length());
            version = path.substring(nameEnd + VERSIONS.length(), at);
            if (!isNumber(version)) {
                notFound(exchange);
                return;
            }
        }
        if (model.isEmpty()) {
            notFound(exchange);
            return;
        }
        String name = model;
        String number = version;
        switch (path.substring(at)) {
            case "/infer" -> post(exchange, request -> infer.answer(request, name, number));
            case "/generate" -> post(exchange, request -> generate.answerOnce(request, name, number));
            case "/generate_stream" -> post(exchange, request -> generate.answerStream(request, name, number));
            case "" -> get(exchange, request -> metadata.model(request, name, number));
            case "/ready" -> get(exchange, request -> metadata.modelReady(request, name, number));
            case "/config" -> get(exchange, request -> metadata.modelConfig(request, name, number));
            case "/stats" -> get(exchange, request -> statistics.model(request, name, number));
            case "/trace/setting" -> {
                if (number.isEmpty()) {
                    trace.answer(exchange, name);
                } else {
                    notFound(exchange);
                }
            }
            default -> notFound(exchange);
        }
    }

    /** What one path does. */
    interface Route {
        /** Answers a request whose method is right. */
        void answer(Exchange exchange);
    }

    /** Answers by {@code route} what was sent with GET, and HEAD with the head of that answer. */
    static void get(Exchange exchange, Route route) {
        if (isGet(exchange)) {
            route.answer(exchange);
        } else {
            answerOther(exchange, "GET, HEAD, OPTIONS");
        }
    }

    /** Answers by {@code route} what was sent with POST. */
    static void post(Exchange exchange, Route route) {
        if (exchange.method().equals(Method.POST)) {
            route.answer(exchange);
        } else {
            answerOther(exchange, "POST, OPTIONS");
        }
    }

    /** Answers by {@code get} what was sent with GET or HEAD, by {@code post} what was sent with POST. */
    static void getOrPost(Exchange exchange, Route get, Route post) {
        if (exchange.method().equals(Method.POST)) {
            post.answer(exchange);
        } else if (isGet(exchange)) {
            get.answer(exchange);
        } else {
            answerOther(exchange, "GET, HEAD, POST, OPTIONS");
        }
    }

    /** Answers that there is no such path. */
    static void notFound(Exchange exchange) {
        exchange.answerFailure(Status.NOT_FOUND_404, "Not Found");
    }

    private static boolean isGet(Exchange exchange) {
        return exchange.method().equals(Method.GET) || exchange.method().equals(Method.HEAD);
    }

    /** Answers what has another method than the path is for. */
    private static void answerOther(Exchange exchange, String allowed) {
        if (exchange.method().equals(Method.OPTIONS)) {
            exchange.answerOptions(allowed);
        } else {
            exchange.header(HeaderNames.ALLOW, allowed);
            exchange.answerFailure(Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
        }
    }

    private static int endOfName(String path, int from) {
        int slash = path.indexOf('/', from);
        return slash < 0 ? path.length() : slash;
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }
}
