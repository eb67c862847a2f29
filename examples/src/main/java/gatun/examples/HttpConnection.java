// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * The server's HTTP port: sends JSON, with or without tensor bytes behind it, and checks the status. Owns its client.
 */
final class HttpConnection implements AutoCloseable {
    /** Tells where the JSON ends and the tensor bytes begin, in both directions. */
    private static final String JSON_LENGTH = "Inference-Header-Content-Length";

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    static final ObjectMapper JSON = new ObjectMapper();

    private final URI server;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();

    /**
     * A connection that opens with the first request.
     *
     * @param server scheme, host and port, as in {@code http://localhost:8000}
     */
    HttpConnection(URI server) {
        this.server = server;
    }

    /**
     * The JSON of a response and the tensor bytes behind it.
     *
     * @param tensors empty where the response is JSON alone
     */
    record Response(JsonNode json, ByteBuffer tensors) {}

    /** Posts JSON alone. */
    Response post(String path, ObjectNode json) {
        return send(request(path).POST(BodyPublishers.ofByteArray(bytes(json))).build());
    }

    /** Posts JSON with raw tensors behind it. */
    Response post(String path, ObjectNode json, byte[] tensors) {
        byte[] header = bytes(json);
        BodyPublisher body =
                BodyPublishers.concat(BodyPublishers.ofByteArray(header), BodyPublishers.ofByteArray(tensors));
        return send(request(path)
                .header(JSON_LENGTH, Integer.toString(header.length))
                .POST(body)
                .build());
    }

    @Override
    public void close() {
        http.close();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.resolve(path)).timeout(TIMEOUT);
    }

    private Response send(HttpRequest request) {
        HttpResponse<byte[]> response;
        try {
            response = http.send(request, BodyHandlers.ofByteArray());
        } catch (ConnectException e) {
            throw DigitException.noServer(server.toString(), e);
        } catch (IOException e) {
            throw new DigitException("The request to " + request.uri() + " failed: " + e + ".", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DigitException("Interrupted while waiting for " + server + ".", e);
        }
        byte[] body = response.body();
        if (response.statusCode() != 200) {
            throw new DigitException("The server refused with status " + response.statusCode() + ": " + reason(body));
        }
        int jsonLength =
                Math.toIntExact(response.headers().firstValueAsLong(JSON_LENGTH).orElse(body.length));
        return new Response(json(body, jsonLength), ByteBuffer.wrap(body, jsonLength, body.length - jsonLength));
    }

    private static byte[] bytes(ObjectNode json) {
        try {
            return JSON.writeValueAsBytes(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of nodes is always writable", e);
        }
    }

    private static JsonNode json(byte[] body, int length) {
        try {
            return length == 0 ? JSON.createObjectNode() : JSON.readTree(body, 0, length);
        } catch (IOException e) {
            throw new DigitException("The server's answer is not JSON: " + e.getMessage(), e);
        }
    }

    private static String reason(byte[] body) {
        try {
            return JSON.readTree(body).path("error").asText("no reason given");
        } catch (IOException e) {
            return "no reason given";
        }
    }
}
