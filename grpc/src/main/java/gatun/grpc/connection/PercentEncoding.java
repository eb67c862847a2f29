// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.nio.charset.StandardCharsets;

/**
 * How gRPC carries a status text in a header: UTF-8 with everything but printable ASCII, the percent sign, and blanks
 * at either end escaped.
 */
final class PercentEncoding {
    /** Clients commonly take 8 KiB of headers, and each byte may become three. */
    private static final int MAX_BYTES = 2048;

    private static final String ELLIPSIS = "...";

    // The bytes of a character in UTF-8 but for the first.
    private static final int CONTINUATION_MASK = 0xc0;
    private static final int CONTINUATION = 0x80;

    private static final String DIGITS = "0123456789ABCDEF";

    private PercentEncoding() {}

    /** The text as {@code grpc-message} carries it; cut where it is longer than clients take a header. */
    static String encode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_BYTES) {
            return encode(cut(bytes));
        }
        int escaped = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (mustEscape(bytes, i)) {
                escaped++;
            }
        }
        if (escaped == 0) {
            return text;
        }
        StringBuilder encoded = new StringBuilder(bytes.length + 2 * escaped);
        for (int i = 0; i < bytes.length; i++) {
            byte b = bytes[i];
            if (mustEscape(bytes, i)) {
                encoded.append('%').append(DIGITS.charAt(b >> 4 & 0xf)).append(DIGITS.charAt(b & 0xf));
            } else {
                encoded.append((char) b);
            }
        }
        return encoded.toString();
    }

    private static String cut(byte[] bytes) {
        int end = MAX_BYTES - ELLIPSIS.length();
        while ((bytes[end] & CONTINUATION_MASK) == CONTINUATION) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8) + ELLIPSIS;
    }

    private static boolean mustEscape(byte[] text, int index) {
        byte b = text[index];
        if (b == ' ') {
            // HTTP/2 allows a header neither to begin nor to end with a blank.
            return index == 0 || index == text.length - 1;
        }
        return b < ' ' || b > '~' || b == '%';
    }
}
