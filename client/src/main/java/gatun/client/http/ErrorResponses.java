// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Turns responses with an error status into exceptions. Stateless and safe for any thread. */
final class ErrorResponses {
    /** Longer error texts are cut. */
    private static final int TEXT_BYTES = 64 << 10;

    private ErrorResponses() {}

    static ServerException read(HttpConnection connection) throws IOException {
        int status = connection.head().status();
        try (WholeBody body = WholeBody.readUpTo(connection, TEXT_BYTES)) {
            return new ServerException(code(status), status, text(status, body.bytes()));
        }
    }

    /** The client's code for an HTTP status. */
    static StatusCode code(int status) {
        return switch (status) {
            case 400, 405, 406, 411, 415, 422 -> StatusCode.INVALID_ARGUMENT;
            case 401, 407 -> StatusCode.UNAUTHENTICATED;
            case 403, 421 -> StatusCode.PERMISSION_DENIED;
            case 404, 410 -> StatusCode.NOT_FOUND;
            case 408, 504 -> StatusCode.DEADLINE_EXCEEDED;
            case 409 -> StatusCode.ALREADY_EXISTS;
            case 412 -> StatusCode.FAILED_PRECONDITION;
            case 413, 414, 431 -> StatusCode.RESOURCE_EXHAUSTED;
            case 429, 502, 503 -> StatusCode.UNAVAILABLE;
            case 499 -> StatusCode.CANCELLED;
            case 501, 505 -> StatusCode.UNIMPLEMENTED;
            default -> status >= 500 ? StatusCode.INTERNAL : StatusCode.UNKNOWN;
        };
    }

    /** The server's error text: the one in its JSON, or whatever it sent instead. */
    static String text(int status, MemorySegment body) {
        byte[] bytes = body.asSlice(0, Math.min(body.byteSize(), TEXT_BYTES)).toArray(ValueLayout.JAVA_BYTE);
        String said = fromJson(bytes).orElseGet(() -> new String(bytes, StandardCharsets.UTF_8).strip());
        return said.isEmpty() ? "status " + status + " without a text" : said;
    }

    /** {@code error} is the protocol's; {@code detail} and {@code message} are those of web frameworks. */
    private static Optional<String> fromJson(byte[] bytes) {
        try (JsonParser json = Json.parser(bytes)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return Optional.empty();
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                JsonToken value = json.nextToken();
                if (value == JsonToken.VALUE_STRING
                        && (name.equals("error") || name.equals("detail") || name.equals("message"))) {
                    return Optional.of(json.getText());
                }
                if (!(value == JsonToken.START_OBJECT && name.equals("error"))) {
                    json.skipChildren();
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            // Not JSON, or not all of it: the text is shown as it is.
            return Optional.empty();
        }
    }
}
