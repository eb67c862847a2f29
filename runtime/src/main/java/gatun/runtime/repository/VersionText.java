// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;

/** Reads the version numbers that clients write, by the rules of the protocol's reference implementation. */
public final class VersionText {
    private VersionText() {}

    /** The number that {@code text} begins with. Throws INVALID_ARGUMENT for none, beyond 64 bits or negative. */
    public static long parse(String text) {
        int start = 0;
        while (start < text.length() && Character.isWhitespace(text.charAt(start))) {
            start++;
        }
        boolean negative = start < text.length() && text.charAt(start) == '-';
        if (negative || (start < text.length() && text.charAt(start) == '+')) {
            start++;
        }
        int end = start;
        long number = 0;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            int digit = text.charAt(end) - '0';
            if (number > (Long.MAX_VALUE - digit) / 10) {
                throw notANumber(text);
            }
            number = number * 10 + digit;
            end++;
        }
        if (end == start) {
            throw notANumber(text);
        }
        if (negative && number > 0) {
            // The blank before the comma is what clients have always got.
            throw GatunException.invalidArgument(
                    "invalid model version specified '" + text + "' , version should be an integral value > 0");
        }
        return number;
    }

    private static GatunException notANumber(String text) {
        return GatunException.invalidArgument("failed to get model version from specified version string '" + text
                + "' (details: stol), version should be an integral value > 0");
    }
}
