// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.UnreachableException;
import gatun.client.calls.Deadline;
import gatun.client.http.HeldConnection;
import gatun.client.http.LaneControl;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.RingEntry;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.YieldBeforeBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;

/** A lane to one server, as long as its connection. Thread-safe: calls wait for one of its slots. */
final class ClientLane implements AutoCloseable {
    static final int TENSORS = 16;
    private static final int SLOTS = 16;
    private static final LaneGeometry GEOMETRY = new LaneGeometry(SLOTS, TENSORS, 0);
    /** Below the server's own limit, so that another is always dropped before there is no room. */
    private static final int PREPARED = 200;
    /** What {@link #users} counts while one call is under way. */
    private static final int ALONE = 2;

    private final LaneControl control;
    private final String address;
    private final SharedMemoryObject object;
    private final LaneMemory memory;
    private final LaneControl.OpenLane opened;
    private final SlotPool slots;
    private final ResponseWait waits;
    private final YieldBeforeBlock handOver = YieldBeforeBlock.alone();
    private final int[] turns = new int[SLOTS];
    /** The users of the memory: this object until it is closed, and calls. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean lost;

    /** Created once, so that calls allocate none. */
    private final Predicate<LaneRequest> isMine = this::isMine;

    private final Function<InferRequest, LaneRequest> prepare = this::prepare;

    /** What was prepared, the least recently used first. */
    private final Map<Object, PreparedNumber> prepared = new LinkedHashMap<>(16, 0.75f, true); // guarded by itself

    private ClientLane(LaneControl control, String address, SharedMemoryObject object, LaneControl.OpenLane opened) {
        this.control = control;
        this.address = address;
        this.object = object;
        this.opened = opened;
        this.memory = new LaneMemory(object.segment(), GEOMETRY);
        this.slots = new SlotPool(memory, SLOTS);
        this.waits = new ResponseWait(memory, SLOTS, address);
    }

    /** Throws {@link gatun.client.ClientException}, or {@link IllegalStateException} without memory for it. */
    static ClientLane open(LaneControl control, String address) {
        SharedMemoryObject object;
        try {
            object = SharedMemoryObject.sealed(GEOMETRY.byteSize());
        } catch (GatunException e) {
            throw new IllegalStateException("there is no memory for a lane: " + e.getMessage(), e);
        }
        try {
            new LaneMemory(object.segment(), GEOMETRY).writeHead(GEOMETRY);
            LaneControl.OpenLane opened = control.open(object.key(), GEOMETRY);
            ClientLane lane = new ClientLane(control, address, object, opened);
            Thread.ofVirtual().name("gatun-lane-end").start(() -> lane.watch(opened.connection()));
            return lane;
        } catch (Throwable t) {
            object.close();
            throw t;
        }
    }

    boolean isLost() {
        return lost;
    }

    /** The encoded request, registered once. Throws {@link gatun.client.ClientException} when the server refuses. */
    LaneRequest prepared(InferRequest request) {
        return request.encoded(LaneRequest.class, isMine, prepare);
    }

    @SuppressWarnings("ReferenceEquality") // one lane's is no other's
    private boolean isMine(LaneRequest request) {
        return request.lane() == this && !request.prepared().isDropped();
    }

    private LaneRequest prepare(InferRequest request) {
        List<String> regions = LaneRequest.regions(request);
        Object key = key(request, regions);
        PreparedNumber number;
        synchronized (prepared) {
            number = prepared.get(key);
        }
        if (number == null) {
            number = new PreparedNumber(control.prepare(opened.name(), request, regions));
            PreparedNumber oldest = null;
            synchronized (prepared) {
                prepared.put(key, number);
                if (prepared.size() > PREPARED) {
                    oldest = prepared.remove(prepared.keySet().iterator().next());
                }
            }
            if (oldest != null) {
                oldest.drop();
                control.drop(opened.name(), oldest.number());
            }
        }
        return new LaneRequest(this, number, request, regions);
    }

    /** The identity of a request for preparation: all but windows, shapes and the place in a sequence. */
    private static Object key(InferRequest request, List<String> regions) {
        List<Object> key = new ArrayList<>();
        key.add(request.model());
        key.add(request.version());
        key.add(regions);
        for (InferInput input : request.inputs()) {
            key.add(input.spec().name());
            key.add(input.spec().datatype());
        }
        for (InferOutput output : request.outputs()) {
            key.add(output.name());
        }
        Map<String, Object> parameters = new LinkedHashMap<>(request.parameters());
        parameters.keySet().removeAll(LaneControl.OF_EACH_REQUEST);
        key.add(parameters);
        return key;
    }

    /** Makes one inference, within the deadline of {@link ResponseWait#await}; throws as that does. */
    InferResponse infer(
            InferRequest request, LaneRequest prepared, Duration limit, long deadlineNanos, long spinNanos) {
        use();
        try {
            int slot = slots.acquire(prepared.slot(), limit, deadlineNanos, address);
            prepared.slot(slot);
            boolean answered = false;
            try {
                long begun = System.nanoTime();
                boolean alone = spinNanos == 0 && users.get() == ALONE;
                int core = alone ? handOver.core() : YieldBeforeBlock.NO_CORE;
                submit(slot, prepared, limit.isZero() ? 0 : deadlineNanos | 1, core);
                if (core >= 0) {
                    YieldBeforeBlock.await(waits.isWaiting, slot);
                }
                waits.await(slot, limit, deadlineNanos, spinNanos, request);
                if (alone) {
                    handOver.noteWait(System.nanoTime() - begun);
                }
                answered = true;
                return prepared.responses().read(memory, memory.slotOffset(slot));
            } finally {
                if (answered) {
                    slots.release(slot);
                } else {
                    giveUp(slot);
                }
            }
        } finally {
            release();
        }
    }

    private void submit(int slot, LaneRequest prepared, long deadlineNanos, int core) {
        long offset = memory.slotOffset(slot);
        prepared.write(memory, offset, deadlineNanos, core);
        memory.setInt(offset + SlotLayout.CLIENT_ASLEEP, 0);
        turns[slot] = (turns[slot] + 1) & RingEntry.TURNS - 1;
        memory.state(slot, SlotState.FILLED);
        memory.submit(RingEntry.of(slot, RingEntry.INFER, turns[slot]));
        if (lost) {
            // Who noticed the end may have looked at this slot before it was filled.
            memory.lose(slot);
        }
    }

    private void giveUp(int slot) {
        if (memory.state(slot) == SlotState.FILLED) {
            memory.submit(RingEntry.of(slot, RingEntry.CANCEL, turns[slot]));
        }
        slots.abandon(slot);
    }

    private void watch(HeldConnection connection) {
        connection.awaitEnd();
        lost = true;
        if (tryUse()) {
            try {
                for (int slot = 0; slot < SLOTS; slot++) {
                    memory.lose(slot);
                }
            } finally {
                release();
            }
        }
        close();
    }

    private void use() {
        if (!tryUse()) {
            throw new UnreachableException(
                    "the lane to " + address + " has ended", new IllegalStateException("it was closed"), false);
        }
    }

    private boolean tryUse() {
        for (int seen = users.get(); seen > 0; seen = users.get()) {
            if (users.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
        return false;
    }

    private void release() {
        if (users.decrementAndGet() == 0) {
            object.close();
        }
    }

    /** Ends the lane; calls that are under way fail. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            opened.connection().close();
            release();
        }
    }

    /** A request that a server has prepared. Safe for any thread. */
    static final class PreparedNumber {
        private final int number;
        private volatile boolean dropped;

        /** {@code number} is its number in the lane; the server gives no number twice. */
        PreparedNumber(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }

        void drop() {
            dropped = true;
        }

        boolean isDropped() {
            return dropped;
        }
    }

    /** A lane's free slots; a cancelled call's slot returns once the server is done. Thread-safe; allocates nothing. */
    static final class SlotPool {
        private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

        private final LaneMemory memory;
        private final Semaphore free;
        /** A bit for each free slot. */
        private final AtomicLong freeSlots;
        /** A bit for each slot that a call left before its response came. */
        private final AtomicLong abandoned = new AtomicLong();

        /** {@code count} is 64 at most. */
        SlotPool(LaneMemory memory, int count) {
            this.memory = memory;
            this.free = new Semaphore(count);
            this.freeSlots = new AtomicLong(-1L >>> (Long.SIZE - count));
        }

        /** Waits for a slot, {@code wished} if free, as {@link ResponseWait#await} does; throws as it does. */
        int acquire(int wished, Duration limit, long deadlineNanos, String address) {
            takeBack();
            if (!free.tryAcquire()) {
                await(new Deadline(deadlineNanos, limit), address);
            }
            while (true) {
                long seen = freeSlots.get();
                int slot = (seen >>> wished & 1) == 1 ? wished : Long.numberOfTrailingZeros(seen);
                if (slot < Long.SIZE && freeSlots.compareAndSet(seen, seen & ~(1L << slot))) {
                    return slot;
                }
            }
        }

        void release(int slot) {
            freeSlots.getAndUpdate(seen -> seen | 1L << slot);
            free.release();
        }

        /** Leaves a slot to the server until that has answered. */
        void abandon(int slot) {
            abandoned.getAndUpdate(seen -> seen | 1L << slot);
        }

        private void await(Deadline deadline, String address) {
            try {
                while (!free.tryAcquire(
                        Math.min(LOOK_NANOS, Math.max(0, deadline.remainingNanos())), TimeUnit.NANOSECONDS)) {
                    if (deadline.hasPassed()) {
                        throw deadline.exceeded("a slot of the lane", address);
                    }
                    takeBack();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new UnreachableException(
                        "the thread was interrupted while it waited for a slot of the lane to " + address, e, false);
            }
        }

        private void takeBack() {
            for (long left = abandoned.get(); left != 0; left &= left - 1) {
                int slot = Long.numberOfTrailingZeros(left);
                long bit = 1L << slot;
                if (memory.state(slot) != SlotState.FILLED
                        && (abandoned.getAndUpdate(seen -> seen & ~bit) & bit) != 0) {
                    release(slot);
                }
            }
        }
    }
}
