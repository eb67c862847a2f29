// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;

/** Answers requests that Helidon refuses before any route sees them, with JSON as for all failures. */
public final class RefusedRequests {
    private RefusedRequests() {}

    /** The handlers for a listener. */
    public static DirectHandlers handlers() {
        DirectHandlers.Builder handlers = DirectHandlers.builder();
        for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
            handlers.addHandler(type, RefusedRequests::answer);
        }
        return handlers.build();
    }

    private static DirectHandler.TransportResponse answer(
            DirectHandler.TransportRequest request,
            DirectHandler.EventType type,
            Status status,
            ServerResponseHeaders headers,
            String message) {
        boolean untold = status.equals(Status.NOT_FOUND_404) || message == null || message.isEmpty();
        String text = untold ? status.reasonPhrase() : message;
        return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderValues.CONTENT_TYPE_JSON)
                .entity(Exchange.failureBody(text))
                .keepAlive(false)
                .build();
    }
}
