// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.Tracing;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelTransactionPolicy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/**
 * A server without engines. Its model answers every input with an output of the same name and data; a request whose id
 * begins with "wait" is answered when {@link #release} says so, one that begins with "hold" is not even submitted
 * before that, one that begins with "fail" fails in its execution, one that begins with "reject" is rejected there.
 */
final class FakeServer implements InferenceServer {
    private final HeapBudget heap = new HeapBudget(8 << 20);
    private int manyModels;
    private final Tracing tracing = Tracing.off();
    static final String MODEL = "echo";

    /**
     * A decoupled model: answers with the input once for each element of it, where the id begins with "last" says so
     * with the last of them, and where it begins with "endless" never stops.
     */
    static final String DECOUPLED = "repeat";

    private final BufferPool pool = new BufferPool(1L << 30);
    private final FakeRegions regions = new FakeRegions();
    private final Map<String, CountDownLatch> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger mostRunning = new AtomicInteger();
    private final Map<Object, Runnable> listeners = new ConcurrentHashMap<>();
    private volatile boolean ready = true;
    private volatile boolean exiting;

    /** The loads and unloads, in order. */
    final List<String> loads = new CopyOnWriteArrayList<>();

    private final LogControl log = new RememberedLog();
    private final AtomicInteger misaligned = new AtomicInteger();

    /** The last request's tensors as they were in memory. */
    volatile List<TensorSpec> lastInputs = List.of();

    volatile Map<String, ParameterValue> lastParameters = Map.of();
    volatile long lastPriority;
    volatile long lastTimeoutMicros;
    volatile Optional<CorrelationId> lastCorrelationId = Optional.empty();
    volatile boolean lastStart;
    volatile boolean lastEnd;

    /** The ids of the requests of sequences, in the order in which they were submitted. */
    final List<String> submitted = new CopyOnWriteArrayList<>();

    /** How many want to know of changes. */
    int listenerCount() {
        return listeners.size();
    }

    /** Begins to stop. */
    void exit() {
        exiting = true;
    }

    void ready(boolean newReady) {
        ready = newReady;
        listeners.values().forEach(Runnable::run);
    }

    /** Lets a request go on that waits. */
    void release(String id) {
        latch(id).countDown();
    }

    private CountDownLatch latch(String id) {
        return waiting.computeIfAbsent(id, any -> new CountDownLatch(1));
    }

    /** The most requests that ran at a time. */
    int mostRunning() {
        return mostRunning.get();
    }

    /** Waits until that many requests run at a time. */
    void awaitRunning(int count) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (running.get() < count) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(running.get() + " requests run instead of " + count);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** Waits until no request runs. */
    void awaitNothingRunning() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (running.get() > 0) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(running.get() + " requests still run");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** Waits until all memory is back: a response arrives a moment before the server is done with it. */
    void awaitNothingHeld() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (pool.usedBytes() > 0 || regions.leases() > 0) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(
                        pool.usedBytes() + " bytes and " + regions.leases() + " leases are still held");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** How many tensors came with an address that their elements do not allow. */
    int misaligned() {
        return misaligned.get();
    }

    @Override
    public ServerMetadata metadata() {
        return new ServerMetadata("fake", "1.2", List.of("statistics", "system_shared_memory"));
    }

    @Override
    public LogControl log() {
        return log;
    }

    @Override
    public Tracing tracing() {
        return tracing;
    }

    @Override
    public boolean live() {
        return true;
    }

    @Override
    public boolean ready() {
        return ready;
    }

    @Override
    public boolean exiting() {
        return exiting;
    }

    @Override
    public ModelVersion model(String name, String version) {
        if (!name.equals(MODEL) && !name.equals(DECOUPLED)) {
            throw new GatunException(ErrorCode.NOT_FOUND, "Request for unknown model: '" + name + "' is not found");
        }
        return new Echo(name);
    }

    /** Lists {@code count} models from now on. */
    void listMany(int count) {
        manyModels = count;
    }

    @Override
    public List<ModelStatus> index() {
        if (manyModels > 0) {
            return Collections.nCopies(
                    manyModels, new ModelStatus(MODEL, "3", "fake", ModelState.READY, "", Duration.ofMillis(1)));
        }
        return List.of(
                new ModelStatus(MODEL, "3", "fake", ModelState.READY, "", Duration.ofMillis(1)),
                new ModelStatus("broken", "1", "fake", ModelState.UNAVAILABLE, "it is broken", Duration.ZERO));
    }

    @Override
    public List<EngineStatistics> engines() {
        return List.of();
    }

    @Override
    public List<ModelStatistics> statistics() {
        return List.of(new ModelStatistics(
                MODEL,
                "3",
                new ModelStatistics.Totals(
                        10,
                        22,
                        new ModelStatistics.Failures(1, 2, 3, 4, 50),
                        new ModelStatistics.StageNanos(100, 30, 25, 27, 29),
                        1_700_000_000_000L,
                        ModelStatistics.Occupancy.NONE,
                        5),
                List.of(new BatchStatistics(1, 6, 11, 12, 13), new BatchStatistics(4, 4, 14, 15, 16)),
                List.of(),
                List.of(),
                Optional.empty()));
    }

    @Override
    public void load(String name, ModelOverride override) {
        loads.add(name + " " + override.config() + " " + override.files().keySet());
        if (name.equals("broken")) {
            throw new GatunException(
                    ErrorCode.INTERNAL, "failed to load 'broken', failed to poll from model repository");
        }
    }

    @Override
    public void unload(String name, boolean dependents) {
        loads.add("unload " + name + " " + dependents);
    }

    @Override
    public Subscription onChange(Runnable listener) {
        Object subscription = new Object();
        listeners.put(subscription, listener);
        return () -> listeners.remove(subscription);
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        int now = running.incrementAndGet();
        mostRunning.accumulateAndGet(now, Math::max);
        try (request) {
            if (request.id().startsWith("hold") && !latch(request.id()).await(30, TimeUnit.SECONDS)) {
                throw new GatunException(ErrorCode.INTERNAL, "nobody released " + request.id());
            }
            if (!request.id().startsWith("refuse")) {
                submitted.add(request.id());
                request.submitted();
            }
            if (request.id().startsWith("reject")) {
                throw GatunException.invalidArgument("the engine rejected");
            }
            if (request.id().startsWith("wait") && !latch(request.id()).await(30, TimeUnit.SECONDS)) {
                throw new GatunException(ErrorCode.INTERNAL, "nobody released " + request.id());
            }
            if (request.id().startsWith("fail")) {
                throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
            }
            if (request.id().startsWith("refuse")) {
                throw GatunException.invalidArgument("the runtime refused");
            }
            return echo(request);
        } catch (InterruptedException e) {
            throw new GatunException(ErrorCode.CANCELLED, "");
        } finally {
            running.decrementAndGet();
        }
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        running.incrementAndGet();
        try (request) {
            long count = request.id().startsWith("endless")
                    ? Long.MAX_VALUE
                    : request.inputs().getFirst().spec().shape().elementCount();
            for (long i = 0; i < count; i++) {
                receiver.accept(echo(request), request.id().startsWith("last") && i == count - 1);
            }
            if (request.id().startsWith("fail")) {
                throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
            }
        } finally {
            running.decrementAndGet();
        }
    }

    private InferenceResponse echo(InferenceRequest request) {
        List<OutputTensor> outputs = new ArrayList<>();
        List<Hold> holds = new ArrayList<>();
        List<TensorSpec> specs = new ArrayList<>();
        for (int i = 0; i < request.inputs().size(); i++) {
            Tensor input = request.inputs().get(i);
            specs.add(input.spec());
            int size = Math.max(1, input.spec().datatype().byteSize());
            if (input.bytes().byteSize() > 0 && input.bytes().address() % size != 0) {
                misaligned.incrementAndGet();
            }
            if (i < request.outputs().size()
                    && request.outputs().get(i).destination().isPresent()) {
                RegionLease lease = request.outputs().get(i).destination().get();
                MemorySegment.copy(
                        input.bytes(), 0, lease.segment(), 0, input.bytes().byteSize());
                outputs.add(new OutputTensor(new Tensor(input.spec(), lease.segment()), true));
                continue;
            }
            Buffer buffer = pool.take(input.bytes().byteSize());
            buffer.segment().copyFrom(input.bytes());
            holds.add(buffer);
            outputs.add(new OutputTensor(new Tensor(input.spec(), buffer.segment()), false));
        }
        lastInputs = specs;
        lastParameters = request.parameters();
        lastPriority = request.priority();
        lastTimeoutMicros = request.timeoutMicros();
        lastCorrelationId = request.correlationId();
        lastStart = request.sequenceStart();
        lastEnd = request.sequenceEnd();
        return new InferenceResponse(request.model().name(), "3", request.id(), outputs, request.parameters(), holds);
    }

    @Override
    public FakeRegions regions() {
        return regions;
    }

    @Override
    public HeapBudget heap() {
        return heap;
    }

    @Override
    public BufferPool buffers() {
        return pool;
    }

    @Override
    public void close() {
        regions.close();
        pool.close();
    }

    private record Echo(String name) implements ModelVersion {

        @Override
        public long version() {
            return 3;
        }

        @Override
        public String versionText() {
            return "3";
        }

        @Override
        public String platform() {
            return "fake_platform";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of(new TensorSpec("IN", Datatype.FP32, Shape.of(-1, 16)));
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of(new TensorSpec("OUT", Datatype.BYTES, Shape.of(-1)));
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.newBuilder()
                    .setName(name)
                    .setMaxBatchSize(8)
                    .setModelTransactionPolicy(
                            ModelTransactionPolicy.newBuilder().setDecoupled(name.equals(DECOUPLED)))
                    .build();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1", "3");
        }
    }

    /** Regions of plain memory; neither keys nor handles are looked at. */
    static final class FakeRegions implements RegionRegistry {
        private final Arena arena = Arena.ofShared();
        private final Map<String, MemorySegment> memory = new TreeMap<>();
        private final Map<String, RegionStatus> statuses = new TreeMap<>();
        private final AtomicInteger leases = new AtomicInteger();

        synchronized MemorySegment memory(String name) {
            return Objects.requireNonNull(memory.get(name));
        }

        int leases() {
            return leases.get();
        }

        @Override
        public synchronized void register(String name, String key, long offset, long byteSize) {
            add(new SystemRegionStatus(name, key, offset, byteSize));
        }

        @Override
        public boolean supportsCuda() {
            return true;
        }

        @Override
        public synchronized void registerCuda(String name, byte[] handle, long device, long byteSize) {
            add(new CudaRegionStatus(name, (int) device, byteSize));
        }

        private void add(RegionStatus region) {
            if (memory.containsKey(region.name())) {
                throw new GatunException(
                        ErrorCode.ALREADY_EXISTS, "shared memory region '" + region.name() + "' already in manager");
            }
            memory.put(region.name(), arena.allocate(region.byteSize(), 64));
            statuses.put(region.name(), region);
        }

        @Override
        public synchronized <S extends RegionStatus> S status(String name, Class<S> kind) {
            RegionStatus status = statuses.get(name);
            if (!kind.isInstance(status)) {
                throw new GatunException(
                        ErrorCode.NOT_FOUND,
                        "Unable to find a " + kind.getSimpleName() + " of '" + name + "' but " + status);
            }
            return kind.cast(status);
        }

        @Override
        public synchronized List<RegionStatus> statuses() {
            return List.copyOf(statuses.values());
        }

        @Override
        public synchronized void unregister(String name, Class<? extends RegionStatus> kind) {
            if (kind.isInstance(statuses.get(name))) {
                memory.remove(name);
                statuses.remove(name);
            }
        }

        @Override
        public synchronized RegionLease borrow(String name, long offset, long byteSize, Access access) {
            MemorySegment region = memory.get(name);
            if (region == null) {
                throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
            }
            leases.incrementAndGet();
            return new Lease(region.asSlice(offset, byteSize), leases);
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    private record Lease(MemorySegment segment, AtomicInteger leases) implements RegionLease {
        @Override
        public void settle() {}

        @Override
        public void close() {
            leases.decrementAndGet();
        }
    }

    /** The settings of a log that nobody writes to. */
    private static final class RememberedLog implements LogControl {
        private final AtomicReference<LogSettings> settings = new AtomicReference<>(LogSettings.standard());

        @Override
        public LogSettings settings() {
            return Objects.requireNonNull(settings.get());
        }

        @Override
        public void change(UnaryOperator<LogSettings> change) {
            settings.updateAndGet(change);
        }
    }
}
