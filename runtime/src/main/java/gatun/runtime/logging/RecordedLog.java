// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.runtime.events.FlightRecording;
import org.jspecify.annotations.Nullable;

/** An access log that also serves flight recordings and who watches requests. Thread-safe. */
public final class RecordedLog implements AccessLog {
    private final AccessLog lines;
    private volatile @Nullable RequestWatch watch;

    /** Has {@code lines} write what it wants. */
    public RecordedLog(AccessLog lines) {
        this.lines = lines;
    }

    /** Has {@code newWatch} told of each request from now on, in the place of who was before. */
    public void watch(RequestWatch newWatch) {
        watch = newWatch;
    }

    @Override
    public boolean isOn() {
        return watch != null || lines.isOn() || FlightRecording.wantsRequests();
    }

    @Override
    public boolean hasLines() {
        return lines.hasLines();
    }

    @Override
    public boolean write(AccessEntry entry) {
        boolean kept = lines.hasLines() && lines.write(entry);
        RequestWatch told = watch;
        if (told != null) {
            told.ended(entry);
        }
        return kept;
    }

    @Override
    public long writtenCount() {
        return lines.writtenCount();
    }

    @Override
    public long droppedCount() {
        return lines.droppedCount();
    }

    /** Is told of each request that has ended. Safe for any thread. */
    @FunctionalInterface
    public interface RequestWatch {
        /** A request has ended. Called by its thread; must return at once, and not keep the entry. */
        void ended(AccessEntry entry);
    }
}
