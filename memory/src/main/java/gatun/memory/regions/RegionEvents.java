// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** What a flight recording tells of the regions that clients register. Safe for any thread. */
@SuppressWarnings("UnusedVariable") // recordings read the fields
final class RegionEvents {
    /** The most characters of a name that an event keeps: a client chose it. */
    private static final int NAME_LIMIT = 256;

    /** Why a region is retired. */
    enum Why {
        UNREGISTERED("unregistered"),
        ABANDONED("its client has ended"),
        CLOSED("the server stops");

        private final String text;

        Why(String text) {
            this.text = text;
        }
    }

    private RegionEvents() {}

    /** A region can be used from now on. */
    static void registered(RegionStatus region) {
        Registered event = new Registered();
        if (event.shouldCommit()) {
            event.name = name(region);
            event.kind = kind(region);
            event.byteSize = region.byteSize();
            event.commit();
        }
    }

    /** A region is not to be used for new requests any more, and is unmapped after those that use it. */
    static void retired(RegionStatus region, Why why) {
        Retired event = new Retired();
        if (event.shouldCommit()) {
            event.name = name(region);
            event.kind = kind(region);
            event.byteSize = region.byteSize();
            event.reason = why.text;
            event.commit();
        }
    }

    /** The same as {@code unmap}, with an event that tells how long it took. */
    static Runnable unmapping(RegionStatus region, Runnable unmap) {
        return () -> {
            Unmapped event = new Unmapped();
            event.begin();
            unmap.run();
            event.end();
            if (event.shouldCommit()) {
                event.name = name(region);
                event.kind = kind(region);
                event.byteSize = region.byteSize();
                event.commit();
            }
        };
    }

    private static String name(RegionStatus region) {
        String name = region.name();
        return name.length() <= NAME_LIMIT ? name : name.substring(0, NAME_LIMIT) + "...";
    }

    private static String kind(RegionStatus region) {
        return region instanceof CudaRegionStatus ? "cuda" : "system";
    }

    @Name("gatun.RegionRegistered")
    @Label("Region Registered")
    @Description("A client's shared memory was registered and mapped")
    @Category({"Gatun", "Shared Memory"})
    @StackTrace(false)
    private static final class Registered extends Event {
        @Label("Region")
        private String name = "";

        @Label("Kind")
        @Description("system or cuda")
        private String kind = "";

        @Label("Size")
        @DataAmount
        private long byteSize;
    }

    @Name("gatun.RegionRetired")
    @Label("Region Retired")
    @Description("A region is unmapped as soon as no request uses it")
    @Category({"Gatun", "Shared Memory"})
    @StackTrace(false)
    private static final class Retired extends Event {
        @Label("Region")
        private String name = "";

        @Label("Kind")
        @Description("system or cuda")
        private String kind = "";

        @Label("Size")
        @DataAmount
        private long byteSize;

        @Label("Reason")
        private String reason = "";
    }

    @Name("gatun.RegionUnmapped")
    @Label("Region Unmapped")
    @Description("A region's memory was given back")
    @Category({"Gatun", "Shared Memory"})
    @StackTrace(false)
    private static final class Unmapped extends Event {
        @Label("Region")
        private String name = "";

        @Label("Kind")
        @Description("system or cuda")
        private String kind = "";

        @Label("Size")
        @DataAmount
        private long byteSize;
    }
}
