// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

/**
 * The parts of a path that its route leaves open, as the client sent them: nothing is decoded. For the thread of the
 * request, and as long as that lasts.
 */
public final class PathValues {
    private final String path;
    private final PathPattern pattern;
    private final int[] bounds;

    PathValues(String path, PathPattern pattern, int[] bounds) {
        this.path = path;
        this.pattern = pattern;
        this.bounds = bounds;
    }

    /** The part that the pattern calls {@code name}; empty where this path leaves it out. */
    public String value(String name) {
        int index = pattern.indexOf(name);
        return index < 0 ? "" : path.substring(bounds[2 * index], bounds[2 * index + 1]);
    }
}
