// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import java.util.Set;

/**
 * The other origins ({@code https://console.example}) whose pages may read responses in a browser.
 *
 * @param origins the origins; {@code *} stands for any
 */
public record AllowedOrigins(Set<String> origins) {
    private static final String ANY = "*";

    /** Keeps a copy. */
    public AllowedOrigins {
        origins = Set.copyOf(origins);
    }

    /** None. */
    public static AllowedOrigins none() {
        return new AllowedOrigins(Set.of());
    }

    boolean isNone() {
        return origins.isEmpty();
    }

    /** Whether pages of {@code origin} are let in; never those of an origin that could end a header's line. */
    boolean contain(String origin) {
        boolean plain = origin.chars().allMatch(c -> c > ' ' && c < 0x7F);
        return plain && !origin.isEmpty() && (origins.contains(ANY) || origins.contains(origin));
    }
}
