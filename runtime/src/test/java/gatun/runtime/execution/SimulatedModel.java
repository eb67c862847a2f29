// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.WarmUpSource;
import gatun.runtime.execution.ModelInstances.InstanceResources;
import gatun.runtime.execution.VersionDefinition.WarmUpPlan;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The model that a simulated scheduler runs: real instances, with real requests, batches and buffers, on an engine that
 * fails now and then. Its output {@code double} is twice the input and {@code echo} the input itself. Inputs lie in
 * pooled buffers or in regions, and outputs go to either; some windows are too small, and some regions are taken away.
 * Checks each response, and that no memory is left.
 */
public final class SimulatedModel {
    private static final BufferPool POOL = new BufferPool(1 << 26);

    /** The memory that clients' regions are windows of. */
    private static final MemorySegment REGIONS = Arena.global().allocate(1 << 20, 64);

    private static final int REGION_BYTES = 1024;

    private final Random random;
    private final RequestCheck check;
    private final LoadingVersion version;
    private final boolean batches;
    private final List<ModelInstance> instances;
    private int regions;

    /** Whether the last run of each request of the present batch failed. */
    private final IdentityHashMap<ExecutionRequest, Boolean> failed = new IdentityHashMap<>();

    /** A window of a region, which knows what became of it. */
    private static final class Window implements RegionLease {
        private final MemorySegment segment;
        private final boolean broken;
        private int closed;

        Window(MemorySegment segment, boolean broken) {
            this.segment = segment;
            this.broken = broken;
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public void settle() {
            if (broken) {
                throw GatunException.invalidArgument("the region was taken away");
            }
        }

        @Override
        public void close() {
            closed++;
        }
    }

    /** A request. */
    public static final class Work {
        private final InferenceRequest request;
        private final int firstElement;
        private final List<Window> windows = new ArrayList<>();
        private PendingInference pending;
        private boolean mayNotBeAnswered;
        private boolean ended;

        @SuppressWarnings("NullAway.Init") // set before each use
        private Work(LoadingVersion version, int firstElement) {
            request = new InferenceRequest(version);
            this.firstElement = firstElement;
        }
    }

    /** A model that is ready. */
    public SimulatedModel(Random random, int maxBatchSize, int instanceCount) {
        this.random = random;
        batches = maxBatchSize > 0;
        ModelConfig.Builder config = ModelConfig.newBuilder().setName("m").setMaxBatchSize(maxBatchSize);
        config.addInputBuilder().setName("in").setDataType(DataType.TYPE_INT32).addDims(-1);
        config.addOutputBuilder()
                .setName("double")
                .setDataType(DataType.TYPE_INT32)
                .addDims(-1);
        config.addOutputBuilder()
                .setName("echo")
                .setDataType(DataType.TYPE_INT32)
                .addDims(-1);
        ModelSignature signature = new ModelSignature(config.build(), Map.of());
        version = new LoadingVersion(config.build(), 1, signature, new TreeMap<>());
        check = new RequestCheck(signature);
        ModelCounters counters = new ModelCounters();
        InstanceResources resources = new InstanceResources(
                new Model(),
                signature,
                null,
                POOL,
                new WarmUp(new WarmUpPlan(List.of(), WarmUpSource.NONE, Path.of("")), version, check),
                counters,
                new LoadWatch(),
                new FailedSenders(System::nanoTime),
                new BatchingTrial(version, check, POOL, ""),
                new ModelTuning(Set.of()));
        instances = IntStream.range(0, instanceCount)
                .mapToObj(i -> new ModelInstance(new InstanceSpec("m_" + i, instanceCount, Device.CPU), i, resources))
                .toList();
        instances.forEach(ModelInstance::open);
        instances.forEach(instance -> instance.prepare(() -> {}));
    }

    private final class Model implements BackendModel, BackendInstance {
        @Override
        public BackendInstance newInstance(InstanceSpec instance) {
            return this;
        }

        @Override
        public void execute(Execution execution) {
            int mishap = random.nextInt(20);
            execution.requests().forEach(request -> failed.put(request, mishap < 3));
            if (mishap == 0) {
                throw new GatunException(ErrorCode.UNAVAILABLE, "the engine refuses");
            }
            Tensor input = execution.input(0);
            for (int i = 0; i < execution.outputCount(); i++) {
                if (execution.outputName(i).equals("double")) {
                    twice(input, execution, i);
                } else {
                    execution.outputFromInput(i, 0, input.spec().shape());
                }
            }
            if (mishap == 1) {
                throw new IllegalStateException("the engine is broken");
            }
            if (mishap == 2) {
                throw new InternalError("a page is gone");
            }
        }

        private void twice(Tensor input, Execution execution, int index) {
            long byteSize = input.bytes().byteSize();
            MemorySegment output =
                    execution.output(index, Datatype.INT32, input.spec().shape(), byteSize);
            for (long at = 0; at < byteSize; at += Integer.BYTES) {
                output.set(
                        ValueLayout.JAVA_INT_UNALIGNED, at, 2 * input.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, at));
            }
        }

        @Override
        public void warmUp() {}

        @Override
        public void close() {}
    }

    /**
     * A request comes.
     *
     * @param size its batch size
     * @param columns the elements of each row; requests of different numbers cannot share a batch
     */
    public Work arrive(int size, int columns) {
        Work work = new Work(version, random.nextInt(1000));
        int elements = size * columns;
        long byteSize = (long) elements * Integer.BYTES;
        MemorySegment bytes;
        if (random.nextBoolean()) {
            bytes = window(work, byteSize).segment();
        } else {
            Buffer buffer = POOL.take(byteSize);
            work.request.hold(buffer);
            bytes = buffer.segment();
        }
        for (int i = 0; i < elements; i++) {
            bytes.setAtIndex(ValueLayout.JAVA_INT, i, work.firstElement + i);
        }
        Shape shape = batches ? Shape.of(size, columns) : Shape.of(elements);
        work.request.addInput(new Tensor(new TensorSpec("in", Datatype.INT32, shape), bytes));
        if (random.nextBoolean()) {
            output(work, "double", byteSize);
            if (random.nextBoolean()) {
                output(work, "echo", byteSize);
            }
        }
        work.pending = check.pending(work.request, System.nanoTime());
        return work;
    }

    private void output(Work work, String name, long byteSize) {
        Optional<RegionLease> destination = Optional.empty();
        if (random.nextBoolean()) {
            boolean small = random.nextInt(20) == 0;
            work.mayNotBeAnswered |= small;
            destination = Optional.of(window(work, small ? byteSize - 1 : byteSize + random.nextInt(2) * 8L));
        }
        work.request.addOutput(new RequestedOutput(name, destination, 0));
    }

    private Window window(Work work, long byteSize) {
        assertThat(byteSize).as("a window").isLessThanOrEqualTo(REGION_BYTES);
        boolean broken = random.nextInt(20) == 0;
        long at = (long) regions++ * REGION_BYTES % REGIONS.byteSize();
        Window window = new Window(REGIONS.asSlice(at, byteSize), broken);
        work.windows.add(window);
        work.request.hold(window);
        work.mayNotBeAnswered |= broken;
        return window;
    }

    /** An instance runs a batch. */
    public void run(int instance, List<Work> batch) {
        failed.clear();
        instances.get(instance).run(batch.stream().map(work -> work.pending).toList());
        for (Work work : batch) {
            boolean runFailed = failed.getOrDefault(work.pending, false);
            assertThat(work.pending.hasFailed())
                    .as("failed, with a run that " + (runFailed ? "failed" : "did not"))
                    .isEqualTo(runFailed || work.mayNotBeAnswered);
        }
    }

    /**
     * A request ends.
     *
     * @param ran whether an instance ran it
     */
    public void end(Work work, boolean ran) {
        assertThat(work.ended).as("ended twice").isFalse();
        work.ended = true;
        if (ran && !work.pending.hasFailed()) {
            try (InferenceResponse response = work.pending.response("m", "1")) {
                for (OutputTensor output : response.outputs()) {
                    checkContent(work, output.tensor());
                }
            }
        }
        work.request.close();
        for (Window window : work.windows) {
            assertThat(window.closed).as("how often a lease was closed").isEqualTo(1);
        }
    }

    private static void checkContent(Work work, Tensor tensor) {
        int factor = tensor.spec().name().equals("double") ? 2 : 1;
        for (int i = 0; i < tensor.spec().shape().elementCount(); i++) {
            assertThat(tensor.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, (long) i * Integer.BYTES))
                    .as("element " + i + " of " + tensor.spec())
                    .isEqualTo(factor * (work.firstElement + i));
        }
    }

    /** To be called when all requests have ended. */
    public void checkNothingIsLeft() {
        instances.forEach(ModelInstance::close);
        assertThat(POOL.usedBytes()).as("bytes still lent").isZero();
    }
}
