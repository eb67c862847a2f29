// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import org.jspecify.annotations.Nullable;

/** The route of a connection's last request, which most requests repeat. For the connection's thread. */
public final class LastRoute {
    /** Longer paths are not kept: a connection that waits must not hold what its client chose to send. */
    static final int MOST_CHARS = 256;

    private @Nullable Object table;
    private @Nullable String path;
    private @Nullable Object found;

    LastRoute() {}

    /** What {@code askedTable} has found, if the last path was this very object; else null. */
    @SuppressWarnings("ReferenceEquality") // an equal path is the same object mostly, and is found again otherwise
    public @Nullable Object recall(Object askedTable, String askedPath) {
        return table == askedTable && path == askedPath ? found : null;
    }

    /** Keeps what {@code newTable} has found for the path of the present request, unless that is long. */
    public void remember(Object newTable, String newPath, Object newFound) {
        if (newPath.length() > MOST_CHARS) {
            return;
        }
        table = newTable;
        path = newPath;
        found = newFound;
    }
}
