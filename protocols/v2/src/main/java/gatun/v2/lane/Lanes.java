// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.ServerSleep;
import gatun.memory.regions.PrivateRegion;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.server.InferenceService;
import gatun.v2.lane.LaneSettings.LaneResources;
import gatun.v2.lane.LaneSettings.LaneUse;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** All lanes of a server and the threads that look at them, which the first lane starts. Safe for any thread. */
public final class Lanes implements AutoCloseable {
    /** How long {@link #close} waits for requests that are under way; the server's own limit is mostly shorter. */
    private static final Duration GRACE = Duration.ofSeconds(30);

    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();
    private static final int NAME_BYTES = 16;
    private static final HexFormat HEX = HexFormat.of();

    private final InferenceService server;
    private final LaneSettings settings;
    private final Map<String, Lane> lanes = new ConcurrentHashMap<>();
    private boolean closed; // guarded by this
    private @Nullable Started started; // guarded by this

    /** What runs from the first lane on. */
    private record Started(List<LaneThread> threads, ExecutorService others, ScheduledThreadPoolExecutor timer) {
        static Started with(LaneSettings settings, RunPlacement placement) {
            ExecutorService others = Executors.newThreadPerTaskExecutor(
                    Thread.ofVirtual().name("lane-request").factory());
            ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
                    1, Thread.ofPlatform().daemon().name("lane-deadlines").factory());
            timer.setRemoveOnCancelPolicy(true);
            List<LaneThread> threads = new ArrayList<>();
            long spinNanos = Duration.ofNanos(1000L * settings.spinMicros()).toNanos();
            for (int i = 0; i < settings.threads(); i++) {
                threads.add(new LaneThread(i, spinNanos, others, placement));
            }
            return new Started(List.copyOf(threads), others, timer);
        }

        void close() {
            threads.forEach(LaneThread::close);
            others.shutdown();
            timer.shutdownNow();
        }
    }

    /** No lanes yet, whose requests {@code server} will answer. */
    public Lanes(InferenceService server, LaneSettings settings) {
        this.server = server;
        this.settings = settings;
    }

    /**
     * Opens a lane in the sealed memfd {@code key}, {@code /proc/PID/fd/NUMBER}, as large as {@code geometry} says. The
     * caller closes it with the client's connection. Throws {@link GatunException} where it cannot be opened.
     */
    public Lane open(String key, LaneGeometry geometry) {
        if (!ServerSleep.isSupported()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "the server's system has no futex_waitv, which lanes need: Linux from 5.16 on has it");
        }
        String name = "lane-" + newName();
        Hold heap = server.heap().reserve(geometry.slots() * SlotRequest.heapByteSize(geometry.tensors()));
        PrivateRegion region = null;
        RegionLease whole = null;
        try {
            region = server.regions().openPrivate(name, key, geometry.byteSize());
            whole = region.borrow(0, geometry.byteSize(), Access.WRITE);
            return open(name, geometry, region, whole, heap);
        } catch (Throwable t) {
            if (whole != null) {
                whole.close();
            }
            if (region != null) {
                region.close();
            }
            heap.close();
            throw t;
        }
    }

    private synchronized Lane open(
            String name, LaneGeometry geometry, PrivateRegion region, RegionLease whole, Hold heap) {
        if (closed) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "Server exiting");
        }
        Started running = started;
        if (running == null) {
            running = Started.with(settings, server.placement());
            started = running;
        }
        LaneThread thread = running.threads.stream()
                .min(Comparator.comparingInt(LaneThread::laneCount))
                .orElseThrow();
        LaneResources resources = new LaneResources(server, running.timer);
        Lane lane = new Lane(name, geometry, resources, region, whole, heap, () -> {
            lanes.remove(name);
            thread.lookAgain();
        });
        lanes.put(name, lane);
        if (!thread.add(lane)) {
            lanes.remove(name);
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "there are " + lanes.size() + " lanes, as many as the server's threads for them can look at");
        }
        lane.tellOpened();
        return lane;
    }

    /** What the lanes are used for now, by their numbers. */
    public List<LaneUse> uses() {
        return lanes.values().stream()
                .map(Lane::use)
                .sorted(Comparator.comparingLong(LaneUse::number))
                .toList();
    }

    private String newName() {
        byte[] bytes = new byte[NAME_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HEX.formatHex(bytes);
    }

    /** The lane of that name. Throws {@link GatunException} NOT_FOUND when there is none. */
    public Lane lane(String name) {
        Lane lane = lanes.get(name);
        if (lane == null) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND, "there is no such lane: it ended with the connection that opened it");
        }
        return lane;
    }

    /** Opens no more lanes, and waits for requests, but not for readers. Lanes end with their connections. */
    @Override
    public void close() {
        Started running;
        synchronized (this) {
            closed = true;
            running = started;
            started = null;
        }
        if (running == null) {
            return;
        }
        long end = System.nanoTime() + GRACE.toNanos();
        while (lanes.values().stream().anyMatch(lane -> lane.runningCount() > 0) && System.nanoTime() - end < 0) {
            lanes.values().forEach(Lane::cancelUnread);
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
        running.close();
        lanes.values().forEach(Lane::close);
    }
}
