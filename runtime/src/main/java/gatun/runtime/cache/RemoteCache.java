// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.execution.ComposedResponse;
import gatun.runtime.execution.ServedModel;
import gatun.spi.ParameterValue;
import gatun.spi.ResponseStore;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Responses in a store that several servers share, and that outlives each of them. What a response is kept under
 * follows from the model's configuration and files and from the request alone. A store that fails, is slow or holds
 * something else costs a bounded time and never a request: the model answers then. Owns the store. Safe for any thread.
 */
public final class RemoteCache implements ResponseCache {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteCache.class);

    /** Changes when responses are kept under other keys or in another form. */
    private static final String FORMAT = "gatun response 1";

    private final ResponseStore store;
    private final BufferPool pool;
    private final Semaphore calls;
    private final StoreOutage outage = new StoreOutage(System::nanoTime);

    /** A cache in {@code store}; {@code pool} lends the memory for responses that are found. */
    public RemoteCache(ResponseStore store, BufferPool pool) {
        this.store = store;
        this.pool = pool;
        calls = new Semaphore(store.limits().calls());
    }

    @Override
    public CachedResponses responses(ServedModel model) {
        Optional<byte[]> hash = model.fingerprint().map(fingerprint -> {
            Sha256 all = new Sha256();
            all.add(FORMAT);
            all.add(model.name());
            all.add(model.version());
            all.add(MemorySegment.ofArray(fingerprint));
            return all.digest();
        });
        Map<String, TensorSpec> outputs = new HashMap<>();
        model.outputs().forEach(output -> outputs.put(output.name(), output));
        return new Responses(hash, outputs);
    }

    @Override
    public void close() {
        store.close();
    }

    /** What {@code call} finds out; empty where the store does not tell in time. */
    private <T> Optional<T> ask(Supplier<Optional<T>> call) {
        if (!outage.admits()) {
            return Optional.empty();
        }
        try {
            if (!calls.tryAcquire(store.limits().patience().toNanos(), TimeUnit.NANOSECONDS)) {
                return Optional.empty();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
        try {
            return call.get();
        } finally {
            calls.release();
        }
    }

    private <T> Optional<T> use(Supplier<Optional<T>> use) {
        Optional<T> result;
        try {
            result = use.get();
        } catch (RuntimeException e) {
            if (outage.failed()) {
                LOG.warn(
                        "The response cache does without its store for now, and tries it again later: {}",
                        e.toString());
            }
            return Optional.empty();
        }
        if (outage.worked()) {
            LOG.info("The response cache's store works again");
        }
        return result;
    }

    /** The responses of one model. */
    private final class Responses implements CachedResponses {
        /** The hash of all that they depend on beside the request; empty where that cannot be told. */
        private final Optional<byte[]> model;

        private final Map<String, TensorSpec> outputs;
        private volatile boolean dropped;

        Responses(Optional<byte[]> model, Map<String, TensorSpec> outputs) {
            this.model = model;
            this.outputs = outputs;
        }

        @Override
        public Entry entry(List<Tensor> inputs, Map<String, ParameterValue> parameters, ComposedResponse wanted) {
            if (model.isEmpty()) {
                return new StoredEntry(Optional.empty(), List.of());
            }
            Sha256 hash = new Sha256();
            hash.add(MemorySegment.ofArray(model.get()));
            RequestDigest.add(hash, inputs, parameters, wanted);
            List<TensorSpec> specs = new ArrayList<>();
            for (int i = 0; i < wanted.outputCount(); i++) {
                Optional<TensorSpec> spec = Optional.ofNullable(outputs.get(wanted.outputName(i)));
                if (spec.isEmpty()) {
                    return new StoredEntry(Optional.empty(), List.of());
                }
                specs.add(spec.get());
            }
            return new StoredEntry(Optional.of(hash.digest()), specs);
        }

        @Override
        public void drop() {
            dropped = true;
        }

        /** The place of one response; without a key there is none. */
        private final class StoredEntry implements Entry {
            private final Optional<byte[]> key;
            private final List<TensorSpec> wanted;

            StoredEntry(Optional<byte[]> key, List<TensorSpec> wanted) {
                this.key = key;
                this.wanted = wanted;
            }

            @Override
            public Optional<Found> find() {
                return key.flatMap(
                        present -> ask(() -> use(() -> store.get(present)).flatMap(this::read)));
            }

            private Optional<Found> read(byte[] value) {
                try {
                    return StoredResponse.read(value, wanted, pool);
                } catch (GatunException noRoom) {
                    return Optional.empty(); // and the model may have none either, and say so
                }
            }

            @Override
            public void put(List<Tensor> outputs) {
                if (key.isEmpty() || dropped) {
                    return;
                }
                ask(() -> StoredResponse.write(outputs, store.limits().valueByteSize())
                        .flatMap(value -> use(() -> {
                            store.put(key.get(), value);
                            return Optional.of(value);
                        })));
            }
        }
    }
}
