// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import io.helidon.http.Status;

/** The heads of responses, and responses to failed requests. */
public final class RestResponse {
    private static final String JSON = "Content-Type: application/json";
    private static final ResponseHeaders OK = ResponseHeaders.of(ResponseHeaders.constant(JSON));
    private static final Status CLIENT_CLOSED_REQUEST = Status.create(499, "Client Closed Request");
    private static final int INDENT = 4;

    private RestResponse() {}

    /** An empty response text of any length: beyond a window, it is sent while it is written. */
    static IndentedJson text(Exchange exchange) {
        return text(exchange, INDENT);
    }

    /** The same, each level {@code indent} blanks further to the right. */
    static IndentedJson text(Exchange exchange, int indent) {
        return new IndentedJson(exchange.json(OK), indent);
    }

    static void send(Exchange exchange, IndentedJson text) {
        exchange.answer(OK, text.text());
    }

    static void fail(Exchange exchange, GatunException failure) {
        fail(exchange, status(failure.code()), failure.getMessage());
    }

    /** Answers that the request failed, and says why. */
    static void fail(Exchange exchange, Status status, String why) {
        IndentedJson text = new IndentedJson(exchange.json(), INDENT)
                .beginObject()
                .name("error")
                .string(Exchange.shortened(why))
                .endObject();
        exchange.answer(headers(status), text.text());
    }

    /** Answers that the request failed, with an empty body. */
    static void failSilently(Exchange exchange, Status status) {
        exchange.answer(headers(status), exchange.json());
    }

    private static ResponseHeaders headers(Status status) {
        return ResponseHeaders.of(ResponseHeaders.constant(status, JSON));
    }

    /** The status that tells a client of such a failure. */
    public static Status status(ErrorCode code) {
        return switch (code) {
            case INVALID_ARGUMENT -> Status.BAD_REQUEST_400;
            case NOT_FOUND -> Status.NOT_FOUND_404;
            case PERMISSION_DENIED -> Status.FORBIDDEN_403;
            case ALREADY_EXISTS -> Status.CONFLICT_409;
            case CANCELLED -> CLIENT_CLOSED_REQUEST;
            case INTERNAL, UNKNOWN -> Status.INTERNAL_SERVER_ERROR_500;
            case RESOURCE_EXHAUSTED -> Status.REQUEST_ENTITY_TOO_LARGE_413;
            case UNSUPPORTED -> Status.NOT_IMPLEMENTED_501;
            case UNAVAILABLE -> Status.SERVICE_UNAVAILABLE_503;
        };
    }
}
