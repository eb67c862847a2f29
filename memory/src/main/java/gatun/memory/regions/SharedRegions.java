// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.FaultGuard;
import gatun.bindings.LibraryCache;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.regions.RegionUse.RegionKind;
import gatun.memory.tensor.RegionLease;
import gatun.memory.threads.SupervisedThread;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The registered regions: of system shared memory, which are sealed memfds and POSIX objects, and of GPUs' memory. A
 * region that requests use stays mapped until the last of them has ended. Unregistered meanwhile, it is listed until
 * then, and for some seconds further requests may use it, unless its name is given to another one. Safe for any thread.
 */
public final class SharedRegions implements RegionRegistry {
    /** Regions at a time, with those not yet unmapped. Each takes a descriptor and a place in the guard's table. */
    public static final int MAX_REGIONS = 1024;

    /** The size of a {@code CUipcMemHandle}. */
    private static final int CUDA_HANDLE_BYTES = 64;

    private final Map<String, Region> regions = new ConcurrentHashMap<>();
    private final RegionReleaser releaser = new RegionReleaser();
    private final OrphanedRegionReaper abandoned = new OrphanedRegionReaper(regions);
    private final CudaMappings mappings = new CudaMappings();
    private final BufferPool pool;
    private final FaultGuard guards;
    private volatile boolean closed;

    private SharedRegions(BufferPool pool, FaultGuard guards) {
        this.pool = pool;
        this.guards = guards;
    }

    /** An empty registry. Installs the fault guard where available; {@code pool} lends the memory for copies. */
    public static SharedRegions open(BufferPool pool) {
        return new SharedRegions(pool, FaultGuard.install(LibraryCache.ofUser()));
    }

    /** A registry that copies every POSIX object, as one does where no guard can be built. */
    static SharedRegions withoutGuard(BufferPool pool) {
        return new SharedRegions(pool, new FaultGuard.Absent("left out"));
    }

    /** For the operator, in one line: how POSIX objects are protected, and why so. */
    public String protection() {
        return switch (guards) {
            case FaultGuard.Installed installed ->
                "zero-copy behind the fault guard (up to " + installed.capacity() + " mappings)";
            case FaultGuard.Absent absent -> "copied, because there is no fault guard: " + absent.reason();
        };
    }

    @Override
    public void register(String name, String key, long offset, long byteSize) {
        if (name.isEmpty()) {
            throw RegionErrors.nameMissing();
        }
        RegionKey parsed = RegionKey.parse(name, key);
        SystemRegionStatus status = new SystemRegionStatus(name, key, offset, byteSize);
        add(name, () -> {
            RegionMapping mapping = RegionMapping.open(status, parsed, guards);
            return new SystemRegion(status, mapping, this::end);
        });
    }

    @Override
    public PrivateRegion openPrivate(String name, String key, long byteSize) {
        SystemRegionStatus status = new SystemRegionStatus(name, key, 0, byteSize);
        if (!(RegionKey.parse(name, key) instanceof RegionKey.ForeignDescriptor parsed)) {
            throw RegionErrors.notSealed(status);
        }
        Region region = opened(
                name, () -> new SystemRegion(status, RegionMapping.open(status, parsed, guards), this::endPrivate));
        return new PrivateRegion(region, pool);
    }

    @Override
    public boolean supportsCuda() {
        return CudaDevices.find().count() > 0;
    }

    @Override
    public void registerCuda(String name, byte[] handle, long device, long byteSize) {
        requireCuda(name);
        if (name.isEmpty()) {
            throw RegionErrors.cudaNameMissing();
        }
        if (handle.length != CUDA_HANDLE_BYTES) {
            throw RegionErrors.handleLength(name, handle.length, CUDA_HANDLE_BYTES);
        }
        CudaDevices devices = CudaDevices.find();
        CudaDevice gpu = Optional.of(device)
                .filter(number -> number == number.intValue())
                .flatMap(number -> devices.device(number.intValue()))
                .orElseThrow(() -> RegionErrors.noSuchDevice(name, device, devices.count()));
        if (byteSize == 0) {
            throw RegionErrors.emptyRegion(name);
        }
        CudaRegionStatus status = new CudaRegionStatus(name, gpu.ordinal(), byteSize);
        add(name, () -> CudaRegion.open(status, gpu, handle, mappings, this::end));
    }

    /** Opens a region and adds it, unless the name is taken or the registry is closed. */
    private void add(String name, Supplier<Region> open) {
        if (isTaken(name)) {
            throw RegionErrors.nameTaken(name);
        }
        Region region = opened(name, open);
        add(region);
        RegionEvents.registered(region.status());
    }

    /** Whether a region has that name that was not unregistered. */
    private boolean isTaken(String name) {
        Region region = regions.get(name);
        return region != null && !region.isLeaving();
    }

    /** Forgets a region that nobody can borrow any more, and has it unmapped. */
    private void end(Region region, Runnable unmap) {
        regions.remove(region.status().name(), region);
        releaser.release(RegionEvents.unmapping(region.status(), unmap));
    }

    private void endPrivate(Region region, Runnable unmap) {
        regions.remove(region.status().name(), region);
        releaser.release(unmap);
    }

    /** Opens a region and counts it, unless the registry is closed. */
    private Region opened(String name, Supplier<Region> open) {
        if (closed) {
            throw RegionErrors.closed(name);
        }
        if (!releaser.tryCount(MAX_REGIONS)) {
            throw RegionErrors.tooMany(name, MAX_REGIONS);
        }
        try {
            return open.get();
        } catch (Throwable t) {
            releaser.uncount();
            throw t;
        }
    }

    private void add(Region region) {
        String name = region.status().name();
        Region previous = regions.putIfAbsent(name, region);
        while (previous != null) {
            if (!previous.isLeaving()) {
                region.retire();
                throw RegionErrors.nameTaken(name);
            }
            // Its requests keep it; the name is free.
            previous.retire();
            regions.remove(name, previous);
            previous = regions.putIfAbsent(name, region);
        }
        // Either this sees that the registry was closed meanwhile, or closing sees the region.
        if (closed && regions.remove(name, region)) {
            region.retire();
            throw RegionErrors.closed(name);
        }
    }

    @Override
    public <S extends RegionStatus> S status(String name, Class<S> kind) {
        Region region = regions.get(name);
        if (region == null || !kind.isInstance(region.status())) {
            throw RegionErrors.unknownStatus(name, kind, region != null);
        }
        return kind.cast(region.status());
    }

    @Override
    public List<RegionStatus> statuses() {
        return regions.values().stream()
                .map(Region::status)
                .sorted(Comparator.comparing(RegionStatus::name))
                .toList();
    }

    @Override
    public List<RegionUse> uses() {
        return regions.values().stream()
                .map(Region::use)
                .sorted(Comparator.comparing(use -> use.status().name()))
                .toList();
    }

    /** The protection of the system region of that name; empty when there is no such region. */
    public Optional<RegionKind> kind(String name) {
        return regions.get(name) instanceof SystemRegion region ? Optional.of(region.kind()) : Optional.empty();
    }

    @Override
    public void unregister(String name, Class<? extends RegionStatus> kind) {
        Region region = regions.get(name);
        if (region != null && kind.isInstance(region.status()) && region.retireWhenUnused()) {
            RegionEvents.retired(region.status(), RegionEvents.Why.UNREGISTERED);
        }
    }

    @Override
    public RegionLease borrow(String name, long offset, long byteSize, Access access) {
        Region region = regions.get(name);
        if (region == null) {
            throw RegionErrors.unknown(name);
        }
        return region.borrow(offset, byteSize, access, pool);
    }

    /** Takes back abandoned regions now, which otherwise happens some seconds later. */
    void takeBackAbandoned() {
        abandoned.takeBack();
    }

    /** How many regions were taken back because clients had ended without unregistering them. */
    public long takenBackCount() {
        return abandoned.takenBackCount();
    }

    /** How many regions are mapped, those included that are unregistered but not yet unmapped. */
    public int mappedCount() {
        return releaser.mappedCount();
    }

    /** Forgets all regions and takes no more. Returns when they are unmapped, except those that requests still use. */
    @Override
    public void close() {
        closed = true;
        abandoned.close();
        for (Region region : List.copyOf(regions.values())) {
            regions.remove(region.status().name(), region);
            if (region.retire()) {
                RegionEvents.retired(region.status(), RegionEvents.Why.CLOSED);
            }
        }
        releaser.close();
    }

    /**
     * Takes back regions of clients that ended without unregistering them, where that is certain: the process that
     * registered a sealed object is gone, and no other has the object open or mapped. Named objects and GPU memory
     * stay. Also retires regions unregistered while in use, which new requests would keep. Its thread looks now and
     * then and takes what it found twice, so that a client's last requests are answered. Thread-safe.
     */
    static final class OrphanedRegionReaper implements AutoCloseable {
        private static final Logger LOG = System.getLogger("gatun.memory");

        /** Between two looks; also the least time between two lines in the log. */
        private static final Duration INTERVAL = Duration.ofSeconds(5);

        private final Map<String, Region> regions;
        /** Regions that the last look found abandoned or unregistered. */
        private Set<Region> suspects = Set.of(); // guarded by this

        private final AtomicLong takenBack = new AtomicLong();
        private final CountDownLatch closed = new CountDownLatch(1);

        /** Watches over {@code regions}, a concurrent map; whoever removes one of them retires it. */
        OrphanedRegionReaper(Map<String, Region> regions) {
            this.regions = regions;
            SupervisedThread.start("region-watch", this::run);
        }

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
}
