// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.memory.tensor.GatunException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Reads texts that browsers have encoded for a URL. */
final class UrlText {
    private UrlText() {}

    /**
     * A segment of a path.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    static String ofPath(String segment) {
        return decode(segment.replace("+", "%2B"));
    }

    /**
     * The value of a parameter of a query, the first if there are several; empty when there is none.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    static String ofQuery(String query, String name) {
        for (String pair : query.split("&", -1)) {
            if (pair.startsWith(name + "=")) {
                return decode(pair.substring(name.length() + 1));
            }
        }
        return "";
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw GatunException.invalidArgument(
                    "'" + text + "' is not encoded as a part of a URL: expected two hexadecimal digits behind each %");
        }
    }
}
