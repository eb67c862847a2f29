// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Supplier;

/** Requests of tests to a server over HTTP. Each response has a deadline. Safe for any thread. */
public final class HttpApi implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Supplier<ServerProcess> server;
    private final HttpClient client = HttpClient.newHttpClient();

    public HttpApi(ServerProcess server) {
        this(() -> server);
    }

    /** Requests to a server that need not have been started yet. */
    public HttpApi(Supplier<ServerProcess> server) {
        this.server = server;
    }

    public HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(server.get().http(path)), HttpResponse.BodyHandlers.ofString());
    }

    public HttpResponse<String> post(String path, String body) {
        return send(
                HttpRequest.newBuilder(server.get().http(path)).POST(HttpRequest.BodyPublishers.ofString(body)),
                HttpResponse.BodyHandlers.ofString());
    }

    /** A URL of the server. */
    public URI uri(String path) {
        return server.get().http(path);
    }

    public <T> HttpResponse<T> send(HttpRequest.Builder request, HttpResponse.BodyHandler<T> body) {
        try {
            return client.send(request.timeout(LIMIT).build(), body);
        } catch (IOException e) {
            throw new UncheckedIOException("no answer" + server.get().transcript(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Registers the shared memory object {@code key} as {@code name}. */
    public HttpResponse<String> register(String name, String key, String offset, String byteSize) {
        return post(
                "/v2/systemsharedmemory/region/" + name + "/register",
                "{\"key\": \"%s\", \"offset\": %s, \"byte_size\": %s}".formatted(key, offset, byteSize));
    }

    /** Unregisters one region. */
    public HttpResponse<String> unregister(String name) {
        return post("/v2/systemsharedmemory/region/" + name + "/unregister", "");
    }

    /** The value of a metric whose line begins so. */
    public double metric(String line) {
        String page = send(HttpRequest.newBuilder(server.get().metrics()), HttpResponse.BodyHandlers.ofString())
                .body();
        return page.lines()
                .filter(l -> l.startsWith(line))
                .map(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no metric " + line + " in\n" + page));
    }

    @Override
    public void close() {
        client.close();
    }
}
