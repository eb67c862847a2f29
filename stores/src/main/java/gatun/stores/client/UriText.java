// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.nio.charset.StandardCharsets;

/** Writes names into URIs. */
public final class UriText {
    private static final String PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    private UriText() {}

    /** All but unreserved characters escaped (RFC 3986, section 2.3), slashes too. */
    public static String escape(String text) {
        return escape(text, "");
    }

    /** The same, with slashes as they are. */
    public static String escapePath(String path) {
        return escape(path, "/");
    }

    private static String escape(String text, String more) {
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (PLAIN.indexOf(c) >= 0 || more.indexOf(c) >= 0) {
                escaped.append(c);
            } else {
                escaped.append('%')
                        .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
                        .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
            }
        }
        return escaped.toString();
    }
}
