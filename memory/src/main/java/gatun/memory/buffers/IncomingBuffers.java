// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The {@link IncomingBuffer}s of a pool. When another buffer needs their memory, takes it first from the senders that
 * are behind the least rate by more than {@link #GRACE_NANOS}, and later than the asking one, the latest first; when
 * that is not enough, from the one sender that holds more than half of what large buffers may take, the latest first,
 * unless that is one buffer alone or its sender asks itself. Takes nothing when all of it would not be enough.
 * Thread-safe; the lock is never held over a system call or a callback.
 */
final class IncomingBuffers {
    /** How far a sender may be behind before others come first. */
    static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A sender that n bytes have been charged for is believed to send this many times n more. */
    static final long TRUST = 4;

    private final BufferPool pool;
    private final LongSupplier nanoClock;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final Set<IncomingBuffer> receiving = new HashSet<>();

    private record Lateness(IncomingBuffer buffer, long nanos) {}

    IncomingBuffers(BufferPool pool, LongSupplier nanoClock) {
        this.pool = pool;
        this.nanoClock = nanoClock;
    }

    long now() {
        return nanoClock.getAsLong();
    }

    void add(IncomingBuffer buffer) {
        lock.lock();
        try {
            receiving.add(buffer);
        } finally {
            lock.unlock();
        }
    }

    void remove(IncomingBuffer buffer) {
        lock.lock();
        try {
            receiving.remove(buffer);
        } finally {
            lock.unlock();
        }
    }

    /** Whether {@code byteSize} would fit if all timely senders went on, so that bodies do not all stop halfway. */
    boolean admits(long byteSize) {
        long expected = byteSize;
        long now = now();
        lock.lock();
        try {
            for (IncomingBuffer other : receiving) {
                expected += other.lateNanos(now) > GRACE_NANOS ? -other.evictableBytes() : other.expectedBytes();
            }
        } finally {
            lock.unlock();
        }
        return expected <= pool.surelyFreeBytes(byteSize) || expected <= pool.freeBytes(byteSize);
    }

    /** Charges for a buffer of {@code byteSize} that {@code asking} grows to (null: taken whole), evicting others. */
    boolean charge(long step, long byteSize, @Nullable IncomingBuffer asking) {
        while (!pool.charge(step, byteSize)) {
            List<IncomingBuffer> evicted = evict(step - pool.freeBytes(byteSize), asking);
            if (evicted.isEmpty()) {
                return pool.charge(step, byteSize);
            }
            evicted.forEach(IncomingBuffer::finishEviction);
        }
        return true;
    }

    /** Takes the memory of the buffer whose sender is latest, if any is late: for its address space. */
    void evictLatest() {
        evict(1, null).forEach(IncomingBuffer::finishEviction);
    }

    void endStalled() {
        List<IncomingBuffer> evicted = new ArrayList<>();
        long now = now();
        lock.lock();
        try {
            for (IncomingBuffer buffer : receiving) {
                if (buffer.isStalled(now)) {
                    take(buffer, buffer.stallCause(), evicted);
                }
            }
            evicted.forEach(receiving::remove);
        } finally {
            lock.unlock();
        }
        evicted.forEach(IncomingBuffer::finishEviction);
    }

    private List<IncomingBuffer> evict(long needed, @Nullable IncomingBuffer asking) {
        if (needed <= 0) {
            return List.of();
        }
        long now = now();
        lock.lock();
        try {
            List<IncomingBuffer> victims = new ArrayList<>();
            long found = chooseLate(needed, asking, now, victims);
            if (found < needed) {
                found += chooseOfGreediest(needed - found, asking, now, victims);
            }
            if (found < needed) {
                return List.of();
            }
            List<IncomingBuffer> evicted = new ArrayList<>();
            victims.forEach(victim -> take(victim, tooSlow(victim), evicted));
            evicted.forEach(receiving::remove);
            return evicted;
        } finally {
            lock.unlock();
        }
    }

    private void take(IncomingBuffer victim, String cause, List<IncomingBuffer> evicted) {
        long freed = victim.beginEviction(cause);
        if (freed != IncomingBuffer.TOO_LATE) {
            pool.uncharge(freed);
            evicted.add(victim);
        }
    }

    private long chooseLate(long needed, @Nullable IncomingBuffer asking, long now, List<IncomingBuffer> chosen) {
        long late = Math.max(GRACE_NANOS, asking == null ? 0 : asking.lateNanos(now));
        return choose(
                needed,
                byLateness(now).stream()
                        .filter(one -> one.nanos() > late && one.buffer() != asking)
                        .map(Lateness::buffer)
                        .toList(),
                chosen);
    }

    private long chooseOfGreediest(
            long needed, @Nullable IncomingBuffer asking, long now, List<IncomingBuffer> chosen) {
        Map<ClientQuotaKey, Long> held = new HashMap<>();
        receiving.forEach(buffer -> held.merge(buffer.sender(), buffer.evictableBytes(), Long::sum));
        for (Map.Entry<ClientQuotaKey, Long> one : held.entrySet()) {
            if (one.getValue() > pool.largestByteSize() / 2
                    && (asking == null || !one.getKey().equals(asking.sender()))) {
                List<IncomingBuffer> its = byLateness(now).stream()
                        .map(Lateness::buffer)
                        .filter(buffer -> buffer.sender().equals(one.getKey()) && !chosen.contains(buffer))
                        .toList();
                // A single one would only be sent again, and be as large then.
                return its.size() < 2 ? 0 : choose(needed, its, chosen);
            }
        }
        return 0;
    }

    /** Adds buffers of {@code from} to {@code chosen} for {@code needed} bytes; returns how many would be free. */
    private static long choose(long needed, List<IncomingBuffer> from, List<IncomingBuffer> chosen) {
        long found = 0;
        for (IncomingBuffer buffer : from) {
            if (found >= needed) {
                break;
            }
            long evictable = buffer.evictableBytes() - Buffer.GRANULE;
            if (evictable > 0) {
                chosen.add(buffer);
                found += evictable;
            }
        }
        return found;
    }

    private List<Lateness> byLateness(long now) {
        List<Lateness> all = new ArrayList<>(receiving.size());
        // Read once: the senders go on meanwhile.
        receiving.forEach(buffer -> all.add(new Lateness(buffer, buffer.lateNanos(now))));
        all.sort(Comparator.comparingLong(Lateness::nanos).reversed());
        return all;
    }

    private static String tooSlow(IncomingBuffer victim) {
        return "the request of " + victim.byteSize()
                + " bytes was sent too slowly while memory was short for others; try again later, or send it faster";
    }
}
