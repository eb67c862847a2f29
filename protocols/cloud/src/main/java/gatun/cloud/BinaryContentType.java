// SPDX-License-Identifier: Apache-2.0
package gatun.cloud;

import gatun.http.connection.Exchange;
import gatun.memory.tensor.GatunException;
import io.helidon.http.HeaderNames;
import java.util.Optional;

/**
 * A content type that gives, behind {@code prefix}, the length of the JSON before the bytes of tensors: the clouds pass
 * no other header on. Immutable.
 */
public record BinaryContentType(String prefix) {
    /** The media type, without its parameter. */
    public String mediaType() {
        return prefix.substring(0, prefix.indexOf(';'));
    }

    /**
     * The length that a request's content type gives, in decimal, not checked against the body; empty for another type.
     * Throws INVALID_ARGUMENT when the type is not at the beginning, or no length follows it.
     */
    public Optional<String> jsonByteSize(Exchange exchange) {
        if (!exchange.hasHeader(HeaderNames.CONTENT_TYPE)) {
            return Optional.empty();
        }
        String contentType = exchange.header(HeaderNames.CONTENT_TYPE).orElse("");
        int at = contentType.indexOf(prefix);
        if (at < 0) {
            return Optional.empty();
        }
        if (at > 0) {
            throw GatunException.invalidArgument(
                    "expect MIME type for binary data starts with '" + prefix + "', got: " + contentType);
        }
        String text = contentType.substring(prefix.length());
        String number = integer(text);
        try {
            return Optional.of(Integer.toString(Integer.parseInt(number)));
        } catch (NumberFormatException e) {
            throw GatunException.invalidArgument("Unable to parse inference header size, "
                    + (number.chars().anyMatch(Character::isDigit) ? "value is out of range, " : "")
                    + "got: " + text);
        }
    }

    /** The number that {@code text} begins with, perhaps behind blanks and before anything else, as C reads it. */
    private static String integer(String text) {
        String stripped = text.stripLeading();
        int end = stripped.startsWith("-") || stripped.startsWith("+") ? 1 : 0;
        while (end < stripped.length() && stripped.charAt(end) >= '0' && stripped.charAt(end) <= '9') {
            end++;
        }
        return stripped.substring(0, end);
    }
}
