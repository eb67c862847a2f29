// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.MalformedResponseException;
import gatun.client.ServerException;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import gatun.client.http.OutgoingRequest.PlainRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** Calls that are no inferences, with the client's deadline and retries. Safe for any thread. */
final class ControlCalls {
    private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");
    private static final MemorySegment NOTHING = MemorySegment.NULL;

    /** More than the statistics of thousands of models. */
    private static final long LIMIT = 64 << 20;

    private final HttpExchanges exchanges;
    private final ClientOptions options;

    ControlCalls(HttpExchanges exchanges, ClientOptions options) {
        this.exchanges = exchanges;
        this.options = options;
    }

    /** Reads the body of a response, which is valid meanwhile. */
    @FunctionalInterface
    interface BodyReader<T> {
        T read(MemorySegment body) throws IOException;
    }

    /** Makes a request that may be repeated. */
    <T> T get(String path, BodyReader<T> reader) {
        return call("GET", path, Map.of(), NOTHING, true, reader);
    }

    <T> T ask(String path, MemorySegment json, BodyReader<T> reader) {
        return call("POST", path, JSON, json, true, reader);
    }

    /** Makes a request without a result. {@code repeatable} says whether it may be repeated. */
    void act(String path, MemorySegment json, boolean repeatable) {
        call("POST", path, JSON, json, repeatable, body -> body.byteSize());
    }

    /** As {@link #get}, without retries. */
    <T> T getOnce(String path, BodyReader<T> reader) {
        Deadline deadline = Deadline.of(options.deadline());
        return exchanges.exchange(
                request("GET", path, Map.of(), NOTHING, true), connection -> read(connection, reader), deadline);
    }

    private <T> T call(
            String method,
            String path,
            Map<String, String> headers,
            MemorySegment json,
            boolean repeatable,
            BodyReader<T> reader) {
        OutgoingRequest request = request(method, path, headers, json, repeatable);
        Deadline deadline = Deadline.of(options.deadline());
        return Attempts.make(
                options.retries(),
                deadline,
                repeatable,
                () -> exchanges.exchange(request, connection -> read(connection, reader), deadline));
    }

    private OutgoingRequest request(
            String method, String path, Map<String, String> headers, MemorySegment json, boolean repeatable) {
        List<MemorySegment> body = json.byteSize() == 0 ? List.of() : List.of(json);
        return new PlainRequest(
                method + " " + path, repeatable, exchanges.heads().of(method, path, headers, body), body);
    }

    /** Throws {@link ServerException} for the status of an error, {@link ClientException} for an unreadable body. */
    static <T> T read(HttpConnection connection, BodyReader<T> reader) throws IOException {
        if (!connection.head().isSuccess()) {
            throw ErrorResponses.read(connection);
        }
        try (WholeBody body = WholeBody.read(connection, LIMIT)) {
            return read(body.bytes(), reader);
        }
    }

    /** Parses a body; an error in it is not the connection's fault. */
    private static <T> T read(MemorySegment body, BodyReader<T> reader) {
        try {
            return reader.read(body);
        } catch (IOException e) {
            throw new MalformedResponseException("its JSON cannot be read: " + e.getMessage(), e);
        }
    }

    /** The paths of the v2 protocol. */
    static final class Paths {
        private Paths() {}

        /** Of a model, or of one of its versions unless that is empty. */
        static String model(String model, String version) {
            String path = "/v2/models/" + RequestHeads.encoded(model);
            return version.isEmpty() ? path : path + "/versions/" + RequestHeads.encoded(version);
        }

        static String repository(String model) {
            return "/v2/repository/models/" + RequestHeads.encoded(model);
        }

        /** Of a region; {@code kind} is {@code system} or {@code cuda}. */
        static String region(String kind, String region) {
            return "/v2/" + kind + "sharedmemory/region/" + RequestHeads.encoded(region);
        }

        static String regions(String kind) {
            return "/v2/" + kind + "sharedmemory";
        }
    }
}
