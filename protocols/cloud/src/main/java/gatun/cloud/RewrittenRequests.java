// SPDX-License-Identifier: Apache-2.0
package gatun.cloud;

import gatun.http.connection.Exchange;
import gatun.http.routes.RouteTable;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import java.util.Map;
import java.util.Optional;

/** Gives requests the head that v2 expects, and has v2 answer; {@code binary} tells where JSON ends. Thread-safe. */
public record RewrittenRequests(RouteTable v2, BinaryContentType binary) {
    private static final HeaderName JSON_LENGTH = HeaderNames.create("Inference-Header-Content-Length");

    /** Answers as {@code path} for inference, its body by its content type; a wrong one throws INVALID_ARGUMENT. */
    public void infer(Exchange exchange, String path) {
        infer(exchange, path, binary.jsonByteSize(exchange));
    }

    /** Answers as {@code path} for inference, whose body is JSON whatever the content type says. */
    public void inferJson(Exchange exchange, String path) {
        infer(exchange, path, Optional.empty());
    }

    /** Neither the body nor the response is compressed. */
    private void infer(Exchange exchange, String path, Optional<String> jsonByteSize) {
        Map<HeaderName, Optional<String>> headers = Map.of(
                JSON_LENGTH,
                jsonByteSize,
                HeaderNames.CONTENT_ENCODING,
                Optional.empty(),
                HeaderNames.ACCEPT_ENCODING,
                Optional.empty());
        exchange.rewrite(Method.POST, path, headers);
        answer(exchange);
    }

    /** Answers as {@code method} and {@code path}, with the headers of the client. */
    public void pass(Exchange exchange, Method method, String path) {
        exchange.rewrite(method, path, Map.of());
        answer(exchange);
    }

    private void answer(Exchange exchange) {
        if (!v2.answer(exchange)) {
            v2.answerUnknownPath(exchange);
        }
    }
}
