// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.memory.tensor.GatunException;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a path that its route leaves open. They are decoded ({@code %20} is a blank) after the route was found
 * by the path as it was sent, so that no encoded slash or dot leads to another route. For the thread of the
 * connection, and as long as a request lasts.
 */
public final class PathValues {
    private final String path;
    private final PathPattern pattern;
    private final int[] bounds;
    /** Those that were asked for, by the numbers of their parameters. */
    private final @Nullable String[] values;

    PathValues(String path, PathPattern pattern, int[] bounds) {
        this.path = path;
        this.pattern = pattern;
        this.bounds = bounds;
        this.values = new String[bounds.length / 2];
    }

    /**
     * The part that the pattern calls {@code name}; empty where this path leaves it out.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    public String value(String name) {
        int index = pattern.indexOf(name);
        if (index < 0) {
            return "";
        }
        String value = values[index];
        if (value == null) {
            value = UrlText.ofPath(path.substring(bounds[2 * index], bounds[2 * index + 1]));
            values[index] = value;
        }
        return value;
    }
}
