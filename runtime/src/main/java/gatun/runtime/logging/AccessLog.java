// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.runtime.events.FlightRecording;
import org.jspecify.annotations.Nullable;

/** Where the entry of each request goes. Safe for any thread. */
public interface AccessLog extends MetricSource {
    /** The counters of its lines. */
    MetricFamily LINES = MetricFamily.counter(
            "gatun_access_log_lines",
            "Number of lines of the access log: written, and dropped because they came too fast or could not be"
                    + " written");

    /** Keeps nothing. */
    AccessLog OFF = new AccessLog() {
        @Override
        public boolean isOn() {
            return false;
        }

        @Override
        public boolean write(AccessEntry entry) {
            return false; // Nobody asked for it.
        }

        @Override
        public long writtenCount() {
            return 0;
        }

        @Override
        public long droppedCount() {
            return 0;
        }
    };

    /** Whether entries are wanted now, which may change at any time. Where they are not, none need be made. */
    boolean isOn();

    /** Whether it writes a line for each entry; always the same. */
    default boolean hasLines() {
        return isOn();
    }

    /** Takes an entry, or drops it without room: never waits. Returns whether it is kept and may not be changed. */
    boolean write(AccessEntry entry);

    /** How many entries have been written. */
    long writtenCount();

    /** How many entries were dropped, since they came faster than they could be written or could not be written. */
    long droppedCount();

    @Override
    default void publish(MetricSink sink) {
        if (hasLines()) {
            sink.begin(LINES);
            sink.value(Labels.of("result", "dropped"), (double) droppedCount());
            sink.value(Labels.of("result", "written"), (double) writtenCount());
        }
    }

    /** An access log that also serves flight recordings and who watches requests. Thread-safe. */
    public static final class RecordedLog implements AccessLog {
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
}
