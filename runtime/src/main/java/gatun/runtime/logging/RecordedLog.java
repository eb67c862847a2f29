// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.runtime.events.RequestEvent;

/**
 * An access log whose entries are wanted, too, while a flight recording asks for requests. Safe for any thread.
 */
public final class RecordedLog implements AccessLog {
    private final AccessLog lines;

    /** Has {@code lines} write what it wants. */
    public RecordedLog(AccessLog lines) {
        this.lines = lines;
    }

    @Override
    public boolean isOn() {
        return lines.isOn() || RequestEvent.isWanted();
    }

    @Override
    public boolean hasLines() {
        return lines.hasLines();
    }

    @Override
    public void write(AccessEntry entry) {
        if (lines.hasLines()) {
            lines.write(entry);
        }
    }

    @Override
    public long writtenCount() {
        return lines.writtenCount();
    }

    @Override
    public long droppedCount() {
        return lines.droppedCount();
    }
}
