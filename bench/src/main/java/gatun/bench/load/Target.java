// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Optional;

/** A server under load, over one transport. Safe for any thread. */
public interface Target extends AutoCloseable {
    /** Opens the caller of worker {@code worker}, from 0. */
    Caller caller(int worker);

    /** The server's counters now; empty where the server has no statistics. */
    Optional<ServerCounters> counters();

    /** Closes all connections; requests that are under way fail. */
    @Override
    void close();
}
