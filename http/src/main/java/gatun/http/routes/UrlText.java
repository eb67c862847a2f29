// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.memory.tensor.GatunException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Reads texts that clients have encoded for a URL: those that have no {@code %} as they are. Stateless. */
public final class UrlText {
    private static final int DIGITS = 2;
    private static final int RADIX = 16;

    private UrlText() {}

    /**
     * A part of a path; a slash that was encoded is part of it.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    public static String ofPath(String part) {
        return part.indexOf('%') < 0 ? part : decode(part);
    }

    /**
     * The value of a parameter of a query, the first if there are several; empty when there is none.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    public static String ofQuery(String query, String name) {
        for (String pair : query.split("&", -1)) {
            if (pair.startsWith(name + "=")) {
                return ofPath(pair.substring(name.length() + 1).replace('+', ' '));
            }
        }
        return "";
    }

    private static String decode(String text) {
        byte[] given = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer decoded = ByteBuffer.allocate(given.length);
        for (int i = 0; i < given.length; i++) {
            if (given[i] != '%') {
                decoded.put(given[i]);
                continue;
            }
            if (i + DIGITS >= given.length) {
                throw malformed(text);
            }
            int high = Character.digit(given[++i], RADIX);
            int low = Character.digit(given[++i], RADIX);
            if (high < 0 || low < 0) {
                throw malformed(text);
            }
            decoded.put((byte) (high * RADIX + low));
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(decoded.flip()).toString();
        } catch (CharacterCodingException e) {
            throw malformed(text);
        }
    }

    private static GatunException malformed(String text) {
        return GatunException.invalidArgument(
                "'" + text + "' is not encoded as a part of a URL: expected two hexadecimal digits behind each %,"
                        + " and bytes of UTF-8");
    }
}
