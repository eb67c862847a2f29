// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.nio.charset.StandardCharsets;

/** Strings as UTF-8 without an array for each: nearly all are ASCII. */
public final class Utf8 {
    private static final int ASCII_LIMIT = 0x80;

    private Utf8() {}

    /** Bytes that a text needs. */
    public static int length(String text) {
        return isAscii(text) ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Writes a text to an array that has room; returns where it ends. */
    public static int write(String text, byte[] target, int start) {
        if (!isAscii(text)) {
            byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
            System.arraycopy(encoded, 0, target, start, encoded.length);
            return start + encoded.length;
        }
        for (int i = 0; i < text.length(); i++) {
            target[start + i] = (byte) text.charAt(i);
        }
        return start + text.length();
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= ASCII_LIMIT) {
                return false;
            }
        }
        return true;
    }
}
