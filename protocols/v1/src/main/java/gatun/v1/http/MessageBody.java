// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import com.google.protobuf.Message;
import gatun.http.connection.Exchange;
import gatun.http.json.JsonWriter;
import io.helidon.http.HeaderNames;
import java.nio.charset.StandardCharsets;

/** A message as the body of a response. */
final class MessageBody {
    static final MessageBody NONE = new MessageBody("", "");

    private static final String BINARY = "application/octet-stream";
    private static final String JSON = "application/json";
    private static final String FORMAT = "format=";

    private final String contentType;
    private final byte[] bytes;

    private MessageBody(String contentType, byte[] bytes) {
        this.contentType = contentType;
        this.bytes = bytes;
    }

    private MessageBody(String contentType, String text) {
        this(contentType, text.getBytes(StandardCharsets.UTF_8));
    }

    /** A message as text, or in binary where the query says so. */
    static MessageBody of(Message message, Exchange exchange) {
        return isBinary(exchange)
                ? new MessageBody(BINARY, message.toByteArray())
                : new MessageBody("", MessageText.lines(message));
    }

    /** The same, and as JSON where the query says so, or says nothing and the client takes nothing else. */
    static MessageBody alsoJson(Message message, Exchange exchange) {
        String format = format(exchange);
        boolean json = format.equals("json")
                || (format.isEmpty()
                        && exchange.header(HeaderNames.ACCEPT)
                                .filter(JSON::equals)
                                .isPresent());
        return json ? new MessageBody("", MessageText.json(message)) : of(message, exchange);
    }

    /** The body's content type; empty for text, as v1 servers sent none then. */
    String contentType() {
        return contentType;
    }

    JsonWriter writeTo(JsonWriter response) {
        return response.raw(bytes, bytes.length);
    }

    static boolean isBinary(Exchange exchange) {
        return format(exchange).equals("binary");
    }

    private static String format(Exchange exchange) {
        for (String parameter : exchange.query().split("&", -1)) {
            if (parameter.startsWith(FORMAT)) {
                return parameter.substring(FORMAT.length());
            }
        }
        return "";
    }
}
