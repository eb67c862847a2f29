// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.spi.Setting;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * How much work each client may begin and throw away: by resetting, cancelling or leaving calls before they are answered.
 * One network is one client, whatever it connects from. Each connection of this machine is a client of its own, but what
 * those clients throw away without having finished as much comes out of one allowance for all of them: a program that
 * throws work away cannot have more by more connections, and one that finishes its work is not held up by it. Thread-safe.
 *
 * <p>Work is counted in nanoseconds of a processor, as estimated from the number of requests and of their bytes. What
 * engines do is not: their queues limit it, and a client that gives slow models up is no attacker.
 */
public final class WorkBudgets {
    /** Opening a call: reading its head, and what is kept for it. */
    public static final long CALL_NANOS = 50_000;

    /** One request of a call: checking, queueing and running it, without what its engine does. */
    public static final long REQUEST_NANOS = 50_000;

    /** Refusing a call, or passing over what is left of one. */
    public static final long REFUSAL_NANOS = 10_000;

    /** The most that may be thrown away at once without having finished anything: some 2,500 calls. */
    static final long ALLOWANCE_NANOS = Duration.ofMillis(250).toNanos();

    /** A tenth of a processor in the long run: each nanosecond that passes gives back so much of the allowance. */
    static final double REFILL = 0.1;

    /** The most that a network owes: a new connection of it waits for a second at most. */
    private static final long MOST_OWED_NANOS = Duration.ofMillis(100).toNanos();

    /** The most that local clients owe: a new connection waits 25 ms, longer than a client that leaves at once. */
    private static final long MOST_OWED_HERE_NANOS = Duration.ofMillis(5).toNanos() / 2;

    /** The most finished work that is remembered, to cover what is thrown away later. */
    static final long MOST_EARNED_NANOS = Duration.ofSeconds(1).toNanos();

    /** From so many networks on, those are forgotten that have their whole allowance: at most once in a sweep period. */
    private static final int SWEEP_SIZE = 1024;

    private static final long SWEEP_PERIOD_NANOS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanoClock;
    private final Allowance ofThisMachine;
    private final ConcurrentMap<Object, WorkBudget> ofNetworks = new ConcurrentHashMap<>();
    private final AtomicLong nextSweep = new AtomicLong();

    /** @param nanoClock the time, as {@link System#nanoTime} */
    public WorkBudgets(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.ofThisMachine = new Allowance(nanoClock, MOST_OWED_HERE_NANOS);
        nextSweep.set(nanoClock.getAsLong());
    }

    /** The work that {@code byteCount} bytes of a request make, in nanoseconds: copying them in and checking them. */
    public static long ofBytes(long byteCount) {
        return byteCount / 2;
    }

    /** The budget of the client at the other end of a new connection. */
    public WorkBudget of(SocketAddress remote) {
        Optional<Object> network = ClientQuotaKey.network(remote);
        if (network.isEmpty()) {
            return new WorkBudget(ofThisMachine);
        }
        if (ofNetworks.size() >= SWEEP_SIZE) {
            sweep();
        }
        return ofNetworks.computeIfAbsent(
                network.get(), key -> new WorkBudget(new Allowance(nanoClock, MOST_OWED_NANOS)));
    }

    private void sweep() {
        long now = nanoClock.getAsLong();
        long due = nextSweep.get();
        if (now - due >= 0 && nextSweep.compareAndSet(due, now + SWEEP_PERIOD_NANOS)) {
            ofNetworks.values().removeIf(WorkBudget::hasWholeAllowance);
        }
    }

    int networkCount() {
        return ofNetworks.size();
    }

    /** Work that may be thrown away without having been earned: some at once, and then a share of the time. */
    static final class Allowance {
        private final LongSupplier nanoClock;
        private final long mostOwed;
        private final ReentrantLock lock = new ReentrantLock();

        // Guarded by lock.
        private long left = ALLOWANCE_NANOS;
        private long filledNanos;

        Allowance(LongSupplier nanoClock, long mostOwed) {
            this.nanoClock = nanoClock;
            this.mostOwed = mostOwed;
            this.filledNanos = nanoClock.getAsLong();
        }

        /** Takes {@code nanos}, or as much as may be owed; returns what is left, negative for what is owed. */
        long take(long nanos) {
            lock.lock();
            try {
                long now = nanoClock.getAsLong();
                long refilled = left + (long) ((now - filledNanos) * REFILL);
                filledNanos = now;
                left = Math.max(-mostOwed, Math.min(ALLOWANCE_NANOS, refilled) - nanos);
                return left;
            } finally {
                lock.unlock();
            }
        }
    }

    /** A client's budget of wasted work ({@link WorkBudgets}), which finished work covers first. Thread-safe. */
    public static final class WorkBudget {
        /** How often one looks whether a client that waits is still there. */
        private static final long LOOK_PERIOD_NANOS = Duration.ofMillis(20).toNanos();

        private final WorkBudgets.Allowance allowance;

        /** Finished work that has covered nothing yet, in nanoseconds. */
        private final AtomicLong earned = new AtomicLong();

        WorkBudget(WorkBudgets.Allowance allowance) {
            this.allowance = allowance;
        }

        /** The client got what it asked for: {@code nanos} of work. */
        public void finish(long nanos) {
            long before = earned.get();
            // Once a client has earned all that is remembered, this is one read.
            while (before < WorkBudgets.MOST_EARNED_NANOS) {
                long seen = earned.compareAndExchange(before, Math.min(WorkBudgets.MOST_EARNED_NANOS, before + nanos));
                if (seen == before) {
                    return;
                }
                before = seen;
            }
        }

        /** {@code nanos} of work are thrown away; false when that was too much, and the client is to be cut off. */
        public boolean abandon(long nanos) {
            long covered = Math.min(nanos, earned.getAndUpdate(before -> before - Math.min(before, nanos)));
            return covered == nanos || allowance.take(nanos - covered) >= 0;
        }

        /** Whether the client of a connection has left. */
        @FunctionalInterface
        public interface Presence {
            /** Looks, without waiting. Throws {@link IOException} when the connection fails. */
            boolean hasLeft() throws IOException;
        }

        /**
         * Waits until the client owes no work, for a limited time: on a new connection, before anything is run for it. Parks
         * the calling thread, which should be virtual.
         *
         * @return false when the client has left meanwhile, or the thread is interrupted
         * @throws IOException when the connection fails
         */
        public boolean awaitTurn(Presence client) throws IOException {
            long end = System.nanoTime() + delay().toNanos();
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                if (client.hasLeft() || Thread.currentThread().isInterrupted()) {
                    return false;
                }
                LockSupport.parkNanos(this, Math.min(left, LOOK_PERIOD_NANOS));
            }
            return true;
        }

        /** How long the client has to wait until it owes nothing; zero for most. */
        public Duration delay() {
            long owed = earned.get() > 0 ? 0 : -allowance.take(0);
            return owed <= 0 ? Duration.ZERO : Duration.ofNanos((long) (owed / WorkBudgets.REFILL));
        }

        boolean hasWholeAllowance() {
            return allowance.take(0) == WorkBudgets.ALLOWANCE_NANOS;
        }
    }

    /** Limits the heap of all requests' long parts, which reserve it first. Thread-safe; never waits. */
    public static final class HeapBudget {
        /** Bytes of heap that every request may take without a reservation: for its usual texts, shapes and objects. */
        public static final long FREE_BYTE_SIZE = 16 << 10;

        private static final Hold NOTHING = () -> {};

        private final long byteLimit;
        private final AtomicLong used = new AtomicLong();

        /** A budget of {@code byteLimit} bytes. */
        public HeapBudget(long byteLimit) {
            this.byteLimit = byteLimit;
        }

        /**
         * Reserves heap; nothing is counted up to {@link #FREE_BYTE_SIZE}. The caller owns the result, and may close it
         * again. Throws UNAVAILABLE when others have taken too much now, RESOURCE_EXHAUSTED when it could never give that
         * much.
         */
        public Hold reserve(long byteSize) {
            if (byteSize <= FREE_BYTE_SIZE) {
                return NOTHING;
            }
            if (byteSize > byteLimit) {
                throw new GatunException(
                        ErrorCode.RESOURCE_EXHAUSTED,
                        "the request needs " + byteSize
                                + " bytes of heap, more than there are for all requests, " + byteLimit
                                + "; the server's " + Setting.LIMIT_HEAP_BYTE_SIZE + " sets it");
            }
            long before = used.get();
            while (byteSize <= byteLimit - before) {
                long seen = used.compareAndExchange(before, before + byteSize);
                if (seen == before) {
                    return new Reservation(byteSize);
                }
                before = seen;
            }
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "requests have taken " + before + " of the " + byteLimit
                            + " bytes of heap that there are for them, and " + byteSize
                            + " more are needed; try again later");
        }

        /** Bytes reserved now. */
        public long usedBytes() {
            return used.get();
        }

        /** The most bytes that may be reserved at a time. */
        public long byteLimit() {
            return byteLimit;
        }

        private final class Reservation implements Hold {
            private final long byteSize;
            private final AtomicBoolean open = new AtomicBoolean(true);

            Reservation(long byteSize) {
                this.byteSize = byteSize;
            }

            @Override
            public void close() {
                if (open.compareAndSet(true, false)) {
                    used.addAndGet(-byteSize);
                }
            }
        }
    }
}
