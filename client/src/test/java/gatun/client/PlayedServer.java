// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A client without a server: a test sets the responses. */
final class PlayedServer implements GatunClient, ModelControl {
    /** The outputs that responses say lie in regions. */
    volatile Supplier<List<TensorSpec>> response = List::of;
    /** The failure of each call about a region. */
    volatile @Nullable ClientException refusal;
    /** The model's metadata. */
    volatile ModelMetadata metadata = new ModelMetadata("model", List.of(), "", List.of(), List.of());

    final Set<String> registered = ConcurrentHashMap.newKeySet();
    volatile int inferences;

    /** Waits as a call does: an interrupted one fails. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnreachableException("interrupted", e);
        }
    }

    @Override
    public synchronized InferResponse infer(InferRequest request) {
        inferences++;
        return new InferResponse(request.model(), "1", "", List.of(), response.get(), Map.of(), () -> {});
    }

    @Override
    public ModelMetadata metadata(String model, String version) {
        return metadata;
    }

    @Override
    public RegionControl regions() {
        return new Regions();
    }

    @Override
    public ModelControl models() {
        return this;
    }

    @Override
    public String address() {
        return "played";
    }

    @Override
    public void close() {}

    // Calls that shared tensors do not make.

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        throw new AssertionError();
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        throw new AssertionError();
    }

    @Override
    public ServerControl server() {
        throw new AssertionError();
    }

    @Override
    public boolean ready(String model, String version) {
        throw new AssertionError();
    }

    @Override
    public ModelConfig config(String model, String version) {
        throw new AssertionError();
    }

    @Override
    public List<ModelStatistics> statistics(String model, String version) {
        throw new AssertionError();
    }

    @Override
    public List<RepositoryModel> index(boolean onlyReady) {
        throw new AssertionError();
    }

    @Override
    public void load(String model, String config, Map<String, byte[]> files) {
        throw new AssertionError();
    }

    @Override
    public void unload(String model, boolean dependents) {
        throw new AssertionError();
    }

    private final class Regions implements RegionControl {
        @Override
        public void register(String name, String key, long offset, long byteSize) {
            refuse();
            registered.add(name);
        }

        @Override
        public void unregister(String name) {
            refuse();
            registered.remove(name);
        }

        private void refuse() {
            ClientException failure = refusal;
            if (failure != null) {
                throw failure;
            }
        }

        // Calls that shared tensors do not make.

        @Override
        public void registerCuda(String name, byte[] handle, int device, long byteSize) {
            throw new AssertionError();
        }

        @Override
        public void unregisterCuda(String name) {
            throw new AssertionError();
        }

        @Override
        public void unregisterAll() {
            throw new AssertionError();
        }

        @Override
        public void unregisterAllCuda() {
            throw new AssertionError();
        }

        @Override
        public List<CudaRegion> cudaRegions() {
            throw new AssertionError();
        }

        @Override
        public List<SystemRegion> regions() {
            throw new AssertionError();
        }
    }
}
