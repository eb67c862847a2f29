// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.threads.Stripes.PaddedLong;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Counts the lent bytes of a pool, and keeps for each core a few small idle buffers together with the bytes that they
 * were charged, so that a core that takes and closes buffers of the same sizes writes no word that others write. Safe
 * for any thread, for any core's cache.
 *
 * <p>What a cache holds is counted as if it were lent, and nobody is refused because of that: whoever finds no room
 * empties and shuts all caches first, under a lock, and then there is one count, which is exact, until the pool is half
 * empty again. All else is one atomic change of one word: a buffer that leaves a cache takes its bytes with it. What
 * the loan is larger or smaller than the one before is moved then, from and to a store of bytes that each cache has.
 */
final class CoreCaches {
    /** Buffers of up to {@code 1 << LARGEST_SHIFT} bytes are cached; larger ones lose idle memory. */
    static final int LARGEST_SHIFT = BufferBlocks.SLAB_SHIFT - 1;

    /** The most bytes that a cache stores beside its buffers. */
    static final long LARGEST_STORE = 1 << LARGEST_SHIFT;

    /** Of each size; as many as a request holds at a time. */
    private static final int PLACES = 4;

    private static final int STORE = (LARGEST_SHIFT - Buffer.SMALLEST_SHIFT + 1) * PLACES;

    /** Words of a cache: its places by size, its store, and two lines that keep it from the next cache's. */
    private static final int STRIDE = STORE + 1 + PaddedLong.PADDING;

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    // A place holds the number of a buffer in its lower half and the charged bytes in its upper half, or one of these.
    private static final long EMPTY = 0;
    /** Also of a store. Nothing is kept here until the cache is open again. */
    private static final long SHUT = -1;

    /** Set in {@link #counted} when the pool is closed. */
    private static final long CLOSED = Long.MIN_VALUE;

    private final int count;
    private final long openLimit;
    private final BufferTable buffers;
    private final BufferStack[] stacks;
    private final Runnable onLast;
    private final long[] words;
    private final PaddedLong counted = new PaddedLong();

    /** Held to shut and to open caches, and to take from one for another core. */
    private final ReentrantLock lock = new ReentrantLock();

    /** One cache is none, as all would share it; {@code onLast} runs, perhaps twice, when closed with nothing lent. */
    CoreCaches(int count, long byteLimit, BufferTable buffers, BufferStack[] stacks, Runnable onLast) {
        this.count = count == 1 ? 0 : count;
        this.openLimit = byteLimit / 2;
        this.buffers = buffers;
        this.stacks = stacks;
        this.onLast = onLast;
        this.words = new long[PaddedLong.PADDING + this.count * STRIDE];
    }

    /** An idle buffer of the cache, which is charged {@code charge} bytes from now on; null where it has none. */
    @Nullable
    Buffer take(int core, int shift, long charge, long limit) {
        if (shift > LARGEST_SHIFT || count == 0) {
            return null;
        }
        int first = place(core, shift);
        for (int at = first; at < first + PLACES; at++) {
            long word = (long) WORDS.getVolatile(words, at);
            if (word > EMPTY && WORDS.compareAndSet(words, at, word, EMPTY)) {
                Buffer buffer = buffers.get((int) word);
                long more = charge - bytes(word);
                if (more == 0 || recharge(core, more, limit)) {
                    return buffer;
                }
                stacks[shift].push(buffer);
                uncharge(bytes(word));
                return null;
            }
        }
        return null;
    }

    /** Changes a buffer's charge by {@code more} bytes, perhaps below 0; false where there is no room. */
    private boolean recharge(int core, long more, long limit) {
        int at = start(core) + STORE;
        long stored = (long) WORDS.getVolatile(words, at);
        long left = stored - more;
        if (stored != SHUT && left >= 0 && left <= LARGEST_STORE && WORDS.compareAndSet(words, at, stored, left)) {
            return true;
        }
        if (more < 0) {
            uncharge(-more);
            return true;
        }
        return tryCharge(more, limit);
    }

    /** Keeps an idle buffer and the {@code charge} bytes that it is charged in a cache, if that has a place. */
    boolean keep(int core, Buffer buffer, long charge) {
        if (buffer.shift > LARGEST_SHIFT || count == 0) {
            return false;
        }
        int first = place(core, buffer.shift);
        for (int at = first; at < first + PLACES; at++) {
            long word = (long) WORDS.getVolatile(words, at);
            if (word == SHUT && !open(core)) {
                return false;
            }
            if (word <= EMPTY && WORDS.compareAndSet(words, at, EMPTY, word(buffer, charge))) {
                return true;
            }
        }
        return false;
    }

    /** A buffer of any core's cache for a caller that has charged its own bytes already; null where none has any. */
    @Nullable
    Buffer steal(int shift) {
        if (shift > LARGEST_SHIFT || count == 0) {
            return null;
        }
        // Whoever finds no room meanwhile waits until these bytes are free.
        lock.lock();
        try {
            for (int core = 0; core < count; core++) {
                int first = place(core, shift);
                for (int at = first; at < first + PLACES; at++) {
                    long word = (long) WORDS.getVolatile(words, at);
                    if (word > EMPTY && WORDS.compareAndSet(words, at, word, EMPTY)) {
                        counted.addAndGet(-bytes(word));
                        return buffers.get((int) word);
                    }
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Counts {@code bytes} more where no more than {@code limit} are lent then. Otherwise changes nothing. */
    boolean charge(long bytes, long limit) {
        if (tryCharge(bytes, limit)) {
            return true;
        }
        if (counted.get() < 0) {
            return false;
        }
        lock.lock();
        try {
            counted.addAndGet(-shut());
            return tryCharge(bytes, limit);
        } finally {
            lock.unlock();
        }
    }

    private boolean tryCharge(long bytes, long limit) {
        long before = counted.get();
        while (before >= 0 && before + bytes <= limit) {
            long seen = counted.compareAndExchange(before, before + bytes);
            if (seen == before) {
                return true;
            }
            before = seen;
        }
        return false;
    }

    void uncharge(long bytes) {
        if (counted.addAndGet(-bytes) == CLOSED) {
            onLast.run();
        }
    }

    /** Lent bytes; while others take and close buffers, what was so a moment ago. */
    long lentBytes() {
        long cached = 0;
        for (int core = 0; core < count; core++) {
            for (int at = start(core); at < start(core) + STORE; at++) {
                cached += bytes(Math.max(EMPTY, (long) WORDS.getVolatile(words, at)));
            }
            cached += Math.max(0, (long) WORDS.getVolatile(words, start(core) + STORE));
        }
        return Math.max(0, (counted.get() & ~CLOSED) - cached);
    }

    /** At least as many as {@link #lentBytes}, without a look into the caches. */
    long countedBytes() {
        return counted.get() & ~CLOSED;
    }

    boolean isClosed() {
        return counted.get() < 0;
    }

    void empty() {
        lock.lock();
        try {
            counted.addAndGet(-shut());
        } finally {
            lock.unlock();
        }
    }

    /** Charges nothing any more. May be called again. */
    void close() {
        long cached;
        lock.lock();
        try {
            counted.getAndSetBits(CLOSED);
            cached = shut();
        } finally {
            lock.unlock();
        }
        uncharge(cached);
    }

    /** Puts the buffers of all caches onto the stacks, and returns how many bytes are to be counted less. */
    private long shut() {
        assert lock.isHeldByCurrentThread();
        long freed = 0;
        for (int core = 0; core < count; core++) {
            long stored = (long) WORDS.getAndSet(words, start(core) + STORE, SHUT);
            if (stored == SHUT) {
                continue;
            }
            freed += stored;
            for (int at = start(core); at < start(core) + STORE; at++) {
                long word = (long) WORDS.getAndSet(words, at, SHUT);
                if (word != EMPTY) {
                    Buffer buffer = buffers.get((int) word);
                    stacks[buffer.shift].push(buffer);
                    freed += bytes(word);
                }
            }
        }
        return freed;
    }

    /** Opens a cache that was shut, once the pool has room; false while it has not. */
    private boolean open(int core) {
        if (!mayOpen() || !lock.tryLock()) {
            return false;
        }
        try {
            int store = start(core) + STORE;
            if (!mayOpen()) {
                return false;
            }
            if ((long) WORDS.getVolatile(words, store) == SHUT) {
                for (int at = start(core); at < store; at++) {
                    WORDS.setVolatile(words, at, EMPTY);
                }
                WORDS.setVolatile(words, store, 0L);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean mayOpen() {
        long present = counted.get();
        return present >= 0 && present <= openLimit;
    }

    private static int start(int core) {
        return PaddedLong.PADDING + core * STRIDE;
    }

    private static int place(int core, int shift) {
        return start(core) + (shift - Buffer.SMALLEST_SHIFT) * PLACES;
    }

    private static long word(Buffer buffer, long charge) {
        return charge << Integer.SIZE | buffer.number;
    }

    private static long bytes(long word) {
        return word >>> Integer.SIZE;
    }

    /**
     * The idle buffers of one size, the latest on top because its memory is warm. Lock-free and without allocation.
     * Linked by number, so that the top and a count of its changes fit one word, against the ABA problem.
     */
    static final class BufferStack {
        /** The number that no buffer has: the end of the chain. */
        static final int NO_BUFFER = 0;

        private static final long NUMBER_MASK = 0xFFFF_FFFFL;

        /** Upper half: how often this word was changed. Lower half: number of the top buffer. */
        private final PaddedLong top = new PaddedLong();

        /** Takes the top buffer; null when there is none. */
        @Nullable
        Buffer pop(BufferTable buffers) {
            while (true) {
                long seen = top.get();
                int number = (int) seen;
                if (number == NO_BUFFER) {
                    return null;
                }
                Buffer buffer = buffers.get(number);
                // Another thread may own the buffer by now and change its link: then the top has changed too.
                if (top.compareAndSet(seen, word(seen, buffer.below))) {
                    return buffer;
                }
            }
        }

        /** Puts a buffer on top; what was written before is seen by the thread that pops it. */
        void push(Buffer buffer) {
            while (true) {
                long seen = top.get();
                buffer.below = (int) seen;
                if (top.compareAndSet(seen, word(seen, buffer.number))) {
                    return;
                }
            }
        }

        /** Takes all buffers, linked by {@link Buffer#below}, and returns the number of the top one. */
        int popAll() {
            while (true) {
                long seen = top.get();
                if (top.compareAndSet(seen, word(seen, NO_BUFFER))) {
                    return (int) seen;
                }
            }
        }

        private static long word(long seen, int number) {
            return ((seen & ~NUMBER_MASK) + (1L << Integer.SIZE)) | number;
        }
    }
}
