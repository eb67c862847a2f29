// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.nio.charset.StandardCharsets;

/**
 * Counts how often a pattern stands in bytes that pass by, and keeps the first of them. The pattern does not begin with
 * a byte that it has a second time. Not thread-safe.
 */
final class PatternCount {
    private static final int KEPT_BYTES = 2048;

    private final byte[] pattern;
    private final StringBuilder begin = new StringBuilder();
    private int matched;
    private long matches;

    PatternCount(String pattern) {
        this.pattern = pattern.getBytes(StandardCharsets.UTF_8);
    }

    void add(byte[] bytes, int count) {
        int kept = Math.min(count, KEPT_BYTES - begin.length());
        if (kept > 0) {
            begin.append(new String(bytes, 0, kept, StandardCharsets.ISO_8859_1));
        }
        for (int i = 0; i < count; i++) {
            if (matched == pattern.length) {
                matched = 0;
            }
            if (matched < pattern.length && bytes[i] == pattern[matched]) {
                matched++;
                matches += matched == pattern.length ? 1 : 0;
            } else {
                matched = pattern.length > 0 && bytes[i] == pattern[0] ? 1 : 0;
            }
        }
    }

    long matches() {
        return matches;
    }

    String begin() {
        return begin.toString();
    }
}
