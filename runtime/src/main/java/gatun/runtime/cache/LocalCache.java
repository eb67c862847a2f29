// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.runtime.execution.ComposedResponse;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The cached responses of all models whose configuration asks for that, in native memory of its own up to a limit; the
 * least recently used make room for new ones. Owns that memory; an evicted response keeps its part only as long as it
 * is being sent to clients. Safe for any thread; no bytes are copied under its lock.
 */
public final class LocalCache implements ResponseCache {
    /** Bytes of the heap that an entry takes, roughly; a quarter of the heap at most is for entries. */
    private static final long ENTRY_HEAP_BYTES = 1024;

    private static final int HEAP_SHARE = 4;
    private static final long ALIGNMENT = 64;

    /** What an output's name, datatype and shape count beside its bytes. */
    private static final long DESCRIPTION_BYTES = 64;

    private static final float LOAD_FACTOR = 0.75F;

    private final BufferPool memory;
    private final long entryLimit = Runtime.getRuntime().maxMemory() / HEAP_SHARE / ENTRY_HEAP_BYTES;
    private final long lowKey;
    private final long highKey;
    private final ReentrantLock lock = new ReentrantLock();

    /** The least recently used comes first. Guarded by lock. */
    private final LinkedHashMap<Key, CacheEntry> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);

    /** A response: whose it is, and what was asked. */
    private record Key(Share share, SipHash.Digest request) {}

    /** The responses of one model. */
    final class Share implements CachedResponses {
        private boolean dropped; // guarded by lock

        @Override
        public Entry entry(List<Tensor> inputs, Map<String, ParameterValue> parameters, ComposedResponse wanted) {
            SipHash hash = new SipHash(lowKey, highKey); // nobody outside can foresee it
            RequestDigest.add(hash, inputs, parameters, wanted);
            SipHash.Digest request = hash.digest();
            return new Entry() {
                @Override
                public Optional<CachedResponses.Found> find() {
                    return LocalCache.this.find(Share.this, request);
                }

                @Override
                public void put(List<Tensor> outputs) {
                    LocalCache.this.put(Share.this, request, outputs);
                }
            };
        }

        @Override
        public void drop() {
            LocalCache.this.drop(this);
        }
    }

    /** Empty; {@code byteLimit} of native memory includes 64 per output, and evicted ones still being sent. */
    public LocalCache(long byteLimit) {
        memory = new BufferPool(byteLimit);
        SecureRandom random = new SecureRandom();
        lowKey = random.nextLong();
        highKey = random.nextLong();
    }

    /** The most bytes that responses may take. */
    public long byteLimit() {
        return memory.byteLimit();
    }

    /** The bytes that responses take now. */
    public long usedBytes() {
        return memory.usedBytes();
    }

    /** How many responses there are. */
    public int entryCount() {
        lock.lock();
        try {
            return entries.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CachedResponses responses(ServedModel model) {
        return share();
    }

    /** A place for the responses of one more model. */
    Share share() {
        return new Share();
    }

    Optional<CachedResponses.Found> find(Share share, SipHash.Digest request) {
        lock.lock();
        try {
            CacheEntry entry = entries.get(new Key(share, request));
            return entry == null
                    ? Optional.empty()
                    : Optional.of(new CachedResponses.Found(entry.outputs(), entry.claim()));
        } finally {
            lock.unlock();
        }
    }

    /** Replaces the copy of a response's outputs stored for the request; does nothing without room for them. */
    void put(Share share, SipHash.Digest request, List<Tensor> outputs) {
        long byteSize = DESCRIPTION_BYTES * outputs.size();
        for (Tensor output : outputs) {
            byteSize += aligned(output.bytes().byteSize());
        }
        Buffer room = room(byteSize);
        if (room == null) {
            return;
        }
        CacheEntry entry = new CacheEntry(room, copies(outputs, room.segment()));
        CacheEntry outdated;
        lock.lock();
        try {
            outdated = share.dropped ? entry : entries.put(new Key(share, request), entry);
        } finally {
            lock.unlock();
        }
        if (outdated != null) {
            outdated.release();
        }
    }

    /** The room that a tensor of so many bytes takes among others, each of which begins at a multiple of 64. */
    static long aligned(long byteSize) {
        return (byteSize + ALIGNMENT - 1) & -ALIGNMENT;
    }

    private static List<Tensor> copies(List<Tensor> outputs, MemorySegment room) {
        List<Tensor> copies = new ArrayList<>(outputs.size());
        long at = 0;
        for (Tensor output : outputs) {
            long byteSize = output.bytes().byteSize();
            MemorySegment copy = room.asSlice(at, byteSize);
            TensorCopy.copy(output.bytes(), copy);
            copies.add(new Tensor(output.spec(), copy));
            at += aligned(byteSize);
        }
        return copies;
    }

    /** Memory for a response, for which others may have to go; null when even that does not help. */
    private @Nullable Buffer room(long byteSize) {
        if (byteSize > memory.byteLimit()) {
            return null;
        }
        while (entryCount() >= entryLimit) {
            evict();
        }
        while (true) {
            try {
                return memory.take(byteSize);
            } catch (GatunException full) {
                if (!evict()) {
                    return null;
                }
            }
        }
    }

    /** Gives up the least recently used response; false when there is none. */
    private boolean evict() {
        CacheEntry eldest;
        lock.lock();
        try {
            Iterator<CacheEntry> inOrder = entries.values().iterator();
            if (!inOrder.hasNext()) {
                return false;
            }
            eldest = inOrder.next();
            inOrder.remove();
        } finally {
            lock.unlock();
        }
        eldest.release();
        return true;
    }

    /** Gives up all responses of a share, for good: those that are stored later are not kept. */
    void drop(Share share) {
        List<CacheEntry> outdated = new ArrayList<>();
        lock.lock();
        try {
            share.dropped = true;
            entries.entrySet().removeIf(entry -> {
                boolean own = entry.getKey().share().equals(share);
                if (own) {
                    outdated.add(entry.getValue());
                }
                return own;
            });
        } finally {
            lock.unlock();
        }
        outdated.forEach(CacheEntry::release);
    }

    /** Drops all responses. Their memory is freed with the last response to a client that shows a part of it. */
    @Override
    public void close() {
        while (evict()) {
            // Until none is left.
        }
        memory.close();
    }

    /** The outputs of one response in the cache's memory, freed with the last claim on it. Thread-safe. */
    static final class CacheEntry {
        private final List<Tensor> outputs;
        private final SharedHolds users;

        /** Owns {@code memory}, in which {@code outputs} lie; the cache is its first user. */
        CacheEntry(Buffer memory, List<Tensor> outputs) {
            users = new SharedHolds(List.of(memory));
            this.outputs = List.copyOf(outputs);
        }

        /** The outputs; valid for those who have a claim. */
        List<Tensor> outputs() {
            return outputs;
        }

        /** One more claim, closed exactly once; called by somebody who has one. */
        Hold claim() {
            return users.share();
        }

        void release() {
            users.release();
        }
    }
}
