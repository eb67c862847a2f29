// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.console.history.VersionHistory.Minute;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * How many minutes all histories together may keep. When there is no room for one more, the oldest of any goes: with
 * many busy versions, each has less than an hour. Guarded by the lock of the {@link Sampler}.
 */
final class HistoryBudget {
    /** Bytes of the heap that a minute takes: its series, and those of two transports. */
    static final int MINUTE_BYTES = (Series.values().length + 4) * Minute.SECONDS * Float.BYTES + 600;

    private final int limit;
    private final Set<VersionHistory> holders = new LinkedHashSet<>();
    private int taken;

    /** A budget of that many minutes, but at least one. */
    HistoryBudget(int limit) {
        this.limit = Math.max(1, limit);
    }

    static HistoryBudget ofBytes(long byteSize) {
        return new HistoryBudget((int) Math.min(Integer.MAX_VALUE, byteSize / MINUTE_BYTES));
    }

    void take(VersionHistory holder) {
        taken++;
        holders.add(holder);
        while (taken > limit) {
            VersionHistory oldest = holders.stream()
                    .min(Comparator.comparingLong(VersionHistory::oldest))
                    .orElse(holder);
            if (!oldest.forgetOldest()) {
                return; // each has only the minute that it writes
            }
        }
    }

    void returned() {
        taken--;
    }

    void remove(VersionHistory holder) {
        holders.remove(holder);
        holder.forget();
    }

    int taken() {
        return taken;
    }
}
