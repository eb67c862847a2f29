// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.memory.threads.Stripes;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The read and write buffers of a listener's connections: native, all of one size, passed from one use to the next. A
 * connection takes one while it reads or writes, and gives it back before it waits for its client, so that there are as
 * many as connections are busy at a time. Buffers that nobody needed for some seconds are freed, but for a few. The
 * last one given back on a core is the next one there. Thread-safe; takes no system call and makes no garbage but for a
 * new buffer.
 */
public final class IoBuffers {
    /** Bytes of each buffer, where the constructor is not told another size. */
    public static final int BYTE_SIZE = 64 * 1024;

    /** Up to this many bytes of free buffers are kept for the next connections. */
    private static final int KEPT_BYTES = 4 << 20;

    /** The time for which a buffer must not have been needed before it is freed. */
    private static final long UNUSED_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Entries of {@link #ofCores} from one core's to the next: so many that no two share a line of a cache. */
    private static final int STRIDE = 32;

    private final int byteSize;
    private final int kept;
    private final long unusedNanos;

    /** One free buffer for each core, so that connections on different cores do not meet at the lock; far apart. */
    private final AtomicReferenceArray<@Nullable ByteBuffer> ofCores;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.

    /** The last one given back is taken first. */
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    private final IdentityHashMap<ByteBuffer, Arena> arenas = new IdentityHashMap<>();

    /** The fewest free buffers since buffers were last freed. */
    private int leastFree;

    private boolean freeing;

    /** No buffers yet, and each of {@link #BYTE_SIZE}. */
    public IoBuffers() {
        this(BYTE_SIZE);
    }

    /** No buffers yet, and each of {@code byteSize} bytes. */
    public IoBuffers(int byteSize) {
        this(byteSize, KEPT_BYTES / byteSize, UNUSED_NANOS, Stripes.count());
    }

    /** Keeps {@code kept} buffers and frees others unused for {@code unusedNanos}; {@code cores} is a power of two. */
    IoBuffers(int byteSize, int kept, long unusedNanos, int cores) {
        this.byteSize = byteSize;
        this.kept = kept;
        this.unusedNanos = unusedNanos;
        this.ofCores = new AtomicReferenceArray<>(cores * STRIDE + STRIDE);
    }

    /** An empty buffer; its content is undefined. Owned by the caller until {@link #give}. */
    public ByteBuffer take() {
        ByteBuffer near = ofCores.getAndSet(ofThisCore(), null);
        if (near != null) {
            return near.clear();
        }
        ByteBuffer passedOn;
        lock.lock();
        try {
            if (free.isEmpty()) {
                collect();
            }
            passedOn = free.pollFirst();
            leastFree = Math.min(leastFree, free.size());
        } finally {
            lock.unlock();
        }
        return passedOn == null ? allocate() : passedOn.clear();
    }

    private void collect() {
        for (int entry = STRIDE; entry < ofCores.length(); entry += STRIDE) {
            ByteBuffer near = ofCores.getAndSet(entry, null);
            if (near != null) {
                free.addFirst(near);
            }
        }
    }

    private int ofThisCore() {
        int cores = ofCores.length() / STRIDE - 1;
        return (1 + (Stripes.current() & cores - 1)) * STRIDE;
    }

    private ByteBuffer allocate() {
        Arena arena = Arena.ofShared();
        ByteBuffer buffer = arena.allocate(byteSize, 64).asByteBuffer();
        lock.lock();
        try {
            arenas.put(buffer, arena);
        } finally {
            lock.unlock();
        }
        return buffer;
    }

    /** Passes on a buffer of {@link #take} that nobody uses any more; once. */
    public void give(ByteBuffer buffer) {
        ByteBuffer before = ofCores.getAndSet(ofThisCore(), buffer);
        if (before == null) {
            return;
        }
        boolean begin;
        lock.lock();
        try {
            free.addFirst(before);
            begin = !freeing && free.size() > kept;
            freeing |= begin;
        } finally {
            lock.unlock();
        }
        if (begin) {
            Thread.ofVirtual().name("io-buffers").start(this::freeUnused);
        }
    }

    /** How many buffers there are, in use or free. */
    int count() {
        lock.lock();
        try {
            return arenas.size();
        } finally {
            lock.unlock();
        }
    }

    private void freeUnused() {
        boolean more = true;
        while (more) {
            LockSupport.parkNanos(this, unusedNanos);
            List<Arena> unused = new ArrayList<>();
            more = removeUnused(unused);
            unused.forEach(Arena::close);
        }
    }

    /** Moves buffers unused since the last call to {@code unused}; false when none is left. */
    private boolean removeUnused(List<Arena> unused) {
        lock.lock();
        try {
            collect();
            for (int i = Math.min(leastFree, free.size()) - kept; i > 0; i--) {
                unused.add(arenas.remove(free.removeLast()));
            }
            leastFree = free.size();
            freeing = free.size() > kept;
            return freeing;
        } finally {
            lock.unlock();
        }
    }
}
