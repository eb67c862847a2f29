// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Optional;

/** A server under load, over one transport. Safe for any thread. */
public interface Target extends AutoCloseable {
    /**
     * Opens what one worker makes its requests by.
     *
     * @param worker its number, from 0
     */
    Caller caller(int worker);

    /** What the server counted until now; empty where it tells of no statistics. */
    Optional<ServerCounters> counters();

    /** Closes all connections; requests that are under way fail. */
    @Override
    void close();
}
