// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.threads.SupervisedThread;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes back regions whose clients have ended without unregistering them, where that is certain: the process that a
 * sealed object was registered from is gone, and no other process has the object open or mapped. An object with a name
 * can be opened by somebody at any time, and nobody knows which processes use memory on a GPU: those stay. Also ends the
 * use of regions that were unregistered while requests used them, which ever new requests would otherwise keep. Looks
 * on a thread of its own, from time to time, and takes regions that it has found so twice, so that a client's last
 * requests are answered. Safe for any thread.
 */
final class AbandonedRegions implements AutoCloseable {
    private static final Logger LOG = System.getLogger("gatun.memory");

    /** Between two looks; also the least time between two lines in the log. */
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final Map<String, Region> regions;
    /** Regions that the last look found abandoned or unregistered. */
    private Set<Region> suspects = Set.of(); // guarded by this

    private final AtomicLong takenBack = new AtomicLong();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Watches over {@code regions}, a concurrent map; whoever removes one of them retires it. */
    AbandonedRegions(Map<String, Region> regions) {
        this.regions = regions;
        SupervisedThread.start("region-watch", this::run);
    }

    /** How many regions were taken back. */
    long takenBackCount() {
        return takenBack.get();
    }

    /** Takes back regions abandoned or unregistered now and at the last call. Reads files for each client. */
    synchronized void takeBack() {
        Map<ProcessIdentity, Boolean> alive = new HashMap<>();
        Set<Region> found = new HashSet<>();
        String example = "";
        long count = 0;
        for (Region region : List.copyOf(regions.values())) {
            boolean unregistered = region.isLeaving();
            if (unregistered || isAbandoned(region, alive)) {
                String name = region.status().name();
                if (!suspects.contains(region)) {
                    found.add(region);
                } else if (unregistered) {
                    region.retire(); // which takes it out when the last request that uses it has ended
                } else if (regions.remove(name, region)) {
                    if (region.retire()) {
                        RegionEvents.retired(region.status(), RegionEvents.Why.ABANDONED);
                    }
                    example = name;
                    count++;
                }
            }
        }
        suspects = found;
        if (count > 0) {
            takenBack.addAndGet(count);
            LOG.log(
                    Level.INFO,
                    "took back " + count + " shared memory region" + (count == 1 ? "" : "s")
                            + " of clients that have ended, such as '" + shortened(example) + "'");
        }
    }

    private static boolean isAbandoned(Region candidate, Map<ProcessIdentity, Boolean> alive) {
        return candidate instanceof SystemRegion region
                && region.owner()
                        .map(owner -> !alive.computeIfAbsent(owner, ProcessIdentity::isAlive))
                        .orElse(false)
                && region.isAbandoned();
    }

    /** The name as the log shows it: a client chose it, and it may be long. */
    private static String shortened(String name) {
        int most = 64;
        String shown = name.length() > most ? name.substring(0, most) + "..." : name;
        return shown.replaceAll("\\p{Cntrl}", "?");
    }

    /** Ends the thread soon. */
    @Override
    public void close() {
        closed.countDown();
    }

    private void run() {
        while (true) {
            try {
                if (closed.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt this thread; it looks a little earlier.
                LOG.log(Level.DEBUG, "the thread that watches regions was interrupted and goes on", e);
            }
            takeBack();
        }
    }
}
