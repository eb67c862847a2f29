// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import java.util.List;
import java.util.Map;

/** What a server told at {@code takenNanos} ({@link System#nanoTime}). {@code omitted} models are beyond the limit. */
record Sample(long takenNanos, List<Model> models, Map<Key, ModelCounts> counts, ServerMetrics metrics, int omitted) {
    /** How many models are kept of one answer; a server may list as many as it likes. */
    static final int MODEL_LIMIT = 10_000;

    record Key(String model, String version) {}

    /** A line of the repository's index; its texts can be shown as they are. */
    record Model(Key key, String state, String reason) {}
}
