// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.RingEntry;
import gatun.memory.regions.PrivateRegion;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.limits.WorkBudgets.WorkBudget;
import gatun.runtime.server.InferenceService;
import gatun.v2.lane.LaneSettings.LaneResources;
import gatun.v2.lane.LaneSettings.LaneUse;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A client's lane at the server. Its thread looks for entries; any other may prepare requests, and end it. The memory
 * stays mapped until that thread has let go of it and the last request has ended.
 */
public final class Lane implements Hold {
    private final String name;
    private final ClientQuotaKey client;
    private final LaneGeometry geometry;
    private final InferenceService server;
    private final ScheduledExecutorService timer;
    private final PrivateRegion region;
    private final RegionLease whole;
    private final LaneMemory memory;
    private final PreparedTable prepared;
    private final Runnable onEnd;
    private final LaneCall[] calls;
    private final LaneEvents events;

    /** The thread of the lane, and requests that are under way: who needs the memory. */
    private final AtomicInteger users = new AtomicInteger(1);

    /** The next entry of the ring, which only the lane's thread knows: no word of the client's says it. */
    private int position;

    private volatile boolean ended;

    /** Null until the client's connection is known. */
    private volatile @Nullable WorkBudget budget;

    /** What the client hears the end of the lane by; guarded by this. */
    private Runnable endConnection = () -> {};

    /** A lane in {@code region}, which it owns. {@code onEnd} has the lane's thread let go of it; called once. */
    Lane(
            String name,
            LaneGeometry geometry,
            LaneResources resources,
            PrivateRegion region,
            RegionLease whole,
            Hold heap,
            Runnable onEnd) {
        this.name = name;
        this.geometry = geometry;
        this.server = resources.server();
        this.timer = resources.timer();
        this.region = region;
        this.whole = whole;
        this.memory = new LaneMemory(whole.segment(), geometry);
        this.prepared = new PreparedTable(heap);
        this.onEnd = onEnd;
        this.client = new ClientQuotaKey(new Object());
        this.calls = new LaneCall[geometry.slots()];
        for (int i = 0; i < calls.length; i++) {
            calls[i] = new LaneCall(this, i);
        }
        this.events = new LaneEvents(geometry);
    }

    void tellOpened() {
        events.opened();
    }

    /**
     * Has {@code action} end the client's connection when the lane ends, at once where it has: the client may sleep,
     * and would wait for ever. It must return at once and not throw. {@code work} is the client's budget. Any thread.
     */
    public void endWith(WorkBudget work, Runnable action) {
        budget = work;
        synchronized (this) {
            if (!ended) {
                endConnection = action;
                return;
            }
        }
        action.run();
    }

    ClientQuotaKey client() {
        return client;
    }

    /** Its name, which only its client knows. */
    public String name() {
        return name;
    }

    /** How many requests may be prepared at a time. */
    public int preparedLimit() {
        return PreparedTable.LIMIT;
    }

    /**
     * Keeps a prepared request, which it owns, and returns its number. Throws {@link GatunException}, closing it:
     * INVALID_ARGUMENT for too many tensors, RESOURCE_EXHAUSTED for too many requests, UNAVAILABLE after the end.
     */
    public int prepare(PreparedRequest request) {
        int tensors = request.inputCount() + request.outputCount();
        if (tensors > geometry.tensors()) {
            request.close();
            throw GatunException.invalidArgument("the request has " + tensors
                    + " inputs and outputs, and each slot of the lane has room for " + geometry.tensors()
                    + ": open a lane with more");
        }
        return prepared.add(request);
    }

    /** Forgets a prepared request; requests that are under way go on. An unknown number changes nothing. */
    public void drop(long number) {
        prepared.drop(number);
    }

    LaneMemory memory() {
        return memory;
    }

    InferenceService server() {
        return server;
    }

    ScheduledExecutorService timer() {
        return timer;
    }

    PreparedRequest prepared(int number) {
        return prepared.get(number);
    }

    RegionLease borrow(PreparedRequest request, int number, long offset, long byteSize, Access access) {
        if (number != 0) {
            return server.regions().borrow(request.region(number), offset, byteSize, access);
        }
        long data = geometry.dataByteSize();
        if (Long.compareUnsigned(offset, data) > 0 || Long.compareUnsigned(byteSize, data - offset) > 0) {
            throw GatunException.invalidArgument("a tensor of " + Long.toUnsignedString(byteSize) + " bytes at offset "
                    + Long.toUnsignedString(offset) + " of a lane: expected it within the lane's " + data
                    + " bytes of data");
        }
        long begin = geometry.dataOffset() + offset;
        return access == Access.SNAPSHOT
                ? region.borrow(begin, byteSize, access)
                : new LaneWindow(whole, begin, byteSize);
    }

    // For the lane's thread

    boolean isEnded() {
        return ended;
    }

    boolean hasEntry() {
        return memory.entry(position) != 0;
    }

    /** Takes the next entry; a request to run, or null when there is none or the entry needed no more than this. */
    @Nullable
    LaneCall take() {
        int entry = memory.entry(position);
        if (entry == 0) {
            return null;
        }
        memory.clearEntry(position++);
        int slot = RingEntry.slot(entry);
        int turn = RingEntry.turn(entry);
        if (slot >= calls.length) {
            throw broken("names slot " + slot + " of " + calls.length);
        }
        LaneCall call = calls[slot];
        switch (RingEntry.command(entry)) {
            case RingEntry.INFER -> {
                if (call.isBusy()) {
                    throw broken("fills slot " + slot + " while its request is under way");
                }
                users.incrementAndGet();
                call.begin(turn);
                return call;
            }
            case RingEntry.CONTINUE -> call.proceed(turn);
            case RingEntry.CANCEL -> call.cancel(turn);
            default -> throw broken("has an entry without a command");
        }
        return null;
    }

    private static GatunException broken(String how) {
        return new GatunException(
                ErrorCode.INVALID_ARGUMENT, "the lane " + how + ": its client writes what it should not");
    }

    // The end

    /** A request has ended, with a response or {@code abandoned}; a client that throws too much away loses its lane. */
    void ended(boolean abandoned) {
        WorkBudget work = budget;
        if (work != null && !abandoned) {
            work.finish(WorkBudgets.REQUEST_NANOS);
        } else if (work != null && !work.abandon(WorkBudgets.REQUEST_NANOS)) {
            close();
        }
        release();
    }

    /** The lane's thread has let go of it. */
    void release() {
        if (users.decrementAndGet() == 0) {
            whole.close();
            region.close();
        }
    }

    int runningCount() {
        return Math.max(0, users.get() - 1);
    }

    LaneUse use() {
        return new LaneUse(
                events.number(), region.use().owner(), geometry.byteSize(), geometry.slots(), runningCount());
    }

    /** Gives up the requests that wait for their client, and no others. */
    void cancelUnread() {
        for (LaneCall call : calls) {
            call.cancelUnread();
        }
    }

    /** Ends the lane: its requests are given up, and no more are taken. A second call does nothing. */
    @Override
    public void close() {
        Runnable lastWord;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            lastWord = endConnection;
        }
        events.closed();
        prepared.close();
        onEnd.run();
        for (LaneCall call : calls) {
            if (call.isBusy()) {
                call.cancel();
            }
        }
        lastWord.run();
    }

    /** A window in a lane's memory, which stays mapped during its requests: closing it does nothing. */
    static final class LaneWindow implements RegionLease {
        private final RegionLease whole;
        private final long offset;
        private final MemorySegment segment;

        /** A window of {@code whole}, all of the lane's memory, from {@code offset} on; inside, as its end is. */
        LaneWindow(RegionLease whole, long offset, long byteSize) {
            this.whole = whole;
            this.offset = offset;
            this.segment = whole.segment().asSlice(offset, byteSize);
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public boolean isShared() {
            return whole.isShared();
        }

        @Override
        public String region() {
            return whole.region();
        }

        @Override
        public Object object() {
            return whole.object();
        }

        @Override
        public long objectOffset() {
            return whole.objectOffset() + offset;
        }

        @Override
        public void settle() {
            whole.settle();
        }

        @Override
        public boolean renew() {
            return true;
        }

        @Override
        public void close() {
            // The lane itself holds the memory.
        }
    }
}
