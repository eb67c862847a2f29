// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.memory.tensor.GatunException;

/**
 * The parts of a path that its route leaves open. They are decoded ({@code %20} is a blank) after the route was found
 * by the path as it was sent, so that no encoded slash or dot leads to another route. For the thread of the request,
 * and as long as that lasts.
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

    /**
     * The part that the pattern calls {@code name}; empty where this path leaves it out.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not encoded as it should be
     */
    public String value(String name) {
        int index = pattern.indexOf(name);
        return index < 0 ? "" : UrlText.ofPath(path.substring(bounds[2 * index], bounds[2 * index + 1]));
    }
}
