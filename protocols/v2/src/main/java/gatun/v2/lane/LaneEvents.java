// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneGeometry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Lanes in flight recordings, by number: their names are clients' secrets. Thread-safe. */
@SuppressWarnings("UnusedVariable") // recordings read the fields
final class LaneEvents {
    private static final AtomicLong LAST = new AtomicLong();

    private final long number = LAST.incrementAndGet();
    private final long openedNanos = System.nanoTime();
    private final LaneGeometry geometry;

    LaneEvents(LaneGeometry geometry) {
        this.geometry = geometry;
    }

    long number() {
        return number;
    }

    void opened() {
        LaneOpened event = new LaneOpened();
        if (event.shouldCommit()) {
            event.lane = number;
            event.slots = geometry.slots();
            event.byteSize = geometry.byteSize();
            event.commit();
        }
    }

    void closed() {
        LaneClosed event = new LaneClosed();
        if (event.shouldCommit()) {
            event.lane = number;
            event.slots = geometry.slots();
            event.byteSize = geometry.byteSize();
            event.lifetime = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
            event.commit();
        }
    }

    @Name("gatun.LaneOpened")
    @Label("Lane Opened")
    @Description("A client opened a lane: requests in shared memory, without a socket")
    @Category({"Gatun", "Shared Memory"})
    @StackTrace(false)
    private static final class LaneOpened extends Event {
        @Label("Lane")
        @Description("Its number in this process, from 1")
        private long lane;

        @Label("Slots")
        @Description("How many requests it has room for at a time")
        private int slots;

        @Label("Size")
        @DataAmount
        private long byteSize;
    }

    @Name("gatun.LaneClosed")
    @Label("Lane Closed")
    @Description("A lane has ended, with its client's connection or with the server")
    @Category({"Gatun", "Shared Memory"})
    @StackTrace(false)
    private static final class LaneClosed extends Event {
        @Label("Lane")
        @Description("Its number in this process, from 1")
        private long lane;

        @Label("Slots")
        @Description("How many requests it had room for at a time")
        private int slots;

        @Label("Size")
        @DataAmount
        private long byteSize;

        @Label("Lifetime")
        @Timespan(Timespan.MILLISECONDS)
        private long lifetime;
    }
}
