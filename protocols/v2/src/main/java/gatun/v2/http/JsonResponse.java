// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import io.helidon.http.Status;

/** Responses of nothing but JSON, and of nothing at all. */
final class JsonResponse {
    static final ResponseHeaders HEADERS =
            ResponseHeaders.of(ResponseHeaders.constant("Content-Type: application/json"));

    private JsonResponse() {}

    static void send(Exchange exchange, JsonWriter json) {
        exchange.answer(HEADERS, json);
    }

    static void sendEmpty(Exchange exchange) {
        exchange.answerEmpty(Status.OK_200);
    }
}
