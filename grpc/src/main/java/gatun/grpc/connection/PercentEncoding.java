package gatun.grpc.connection;

import java.nio.charset.StandardCharsets;

/** How gRPC carries a status text in a header: UTF-8 with everything but printable ASCII, and the percent sign, escaped. */
final class PercentEncoding {
    private static final String DIGITS = "0123456789ABCDEF";

    private PercentEncoding() {}

    /** The text as {@code grpc-message} carries it. */
    static String encode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int escaped = 0;
        for (byte b : bytes) {
            if (mustEscape(b)) {
                escaped++;
            }
        }
        if (escaped == 0) {
            return text;
        }
        StringBuilder encoded = new StringBuilder(bytes.length + 2 * escaped);
        for (byte b : bytes) {
            if (mustEscape(b)) {
                encoded.append('%').append(DIGITS.charAt(b >> 4 & 0xf)).append(DIGITS.charAt(b & 0xf));
            } else {
                encoded.append((char) b);
            }
        }
        return encoded.toString();
    }

    private static boolean mustEscape(byte b) {
        return b < ' ' || b > '~' || b == '%';
    }
}
