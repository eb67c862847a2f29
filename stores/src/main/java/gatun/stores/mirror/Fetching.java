// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.time.Duration;
import java.util.Map;

/**
 * How files are fetched.
 *
 * @param timeout for connections and responses, and in which some of a body has to come
 * @param threads how many at a time
 * @param progress is told how far they are
 * @param environment the process's variables, which hold credentials
 */
public record Fetching(Duration timeout, int threads, FetchProgress progress, Map<String, String> environment) {
    /** Keeps a copy. */
    public Fetching {
        environment = Map.copyOf(environment);
    }

    /** Shows no credentials. */
    @Override
    public String toString() {
        return "Fetching[" + timeout + ", " + threads + "]";
    }
}
