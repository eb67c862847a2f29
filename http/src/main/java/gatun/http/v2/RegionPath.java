// SPDX-License-Identifier: Apache-2.0
package gatun.http.v2;

import java.util.Optional;

/**
 * The part of a path behind the kind of shared memory: {@code [region/<name>/]<action>}.
 *
 * @param name the region; empty when the path names none
 * @param action what is asked of it
 */
record RegionPath(String name, String action) {
    private static final String REGION = "region/";

    /** Reads {@code path}; empty when it does not begin with {@code root}, or names a region without a name. */
    static Optional<RegionPath> parse(String path, String root) {
        if (!path.startsWith(root)) {
            return Optional.empty();
        }
        String rest = path.substring(root.length());
        if (!rest.startsWith(REGION)) {
            return Optional.of(new RegionPath("", rest));
        }
        int slash = rest.indexOf('/', REGION.length());
        return slash <= REGION.length()
                ? Optional.empty()
                : Optional.of(new RegionPath(rest.substring(REGION.length(), slash), rest.substring(slash + 1)));
    }
}
