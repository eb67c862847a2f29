// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.bindings.LibraryCache;
import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.BackendInstance;
import gatun.spi.Device;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import gatun.testing.OnnxFile;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models on a GPU, by the real ONNX Runtime with its CUDA provider stood in for ({@code onnxruntime_cuda.c}) and the
 * driver as well. In a JVM of its own, since a process has one ONNX Runtime only.
 */
@Timeout(120)
class OnnxGpuTest {
    private static final Path EXAMPLES = Path.of("..", "..", "examples");
    private static final TensorSpec X = new TensorSpec("x", Datatype.FP32, Shape.of(2, 4));
    private static final TensorSpec Y = new TensorSpec("y", Datatype.FP32, Shape.of(2, 3));
    private static final float[] ROWS = {0.5f, -1, 2, 0.25f, 3, 0, -2, 1};

    @TempDir
    static Path folder;

    private static OnnxRuntimeBackend backend;
    private static CudaStandIn standIn;

    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    private final Arena arena = Arena.ofConfined();

    @BeforeAll
    static void start() throws Exception {
        assumeThat(CudaStandIn.loaded())
                .as("the stand-in for CUDA's driver, which needs a C compiler")
                .isPresent();
        standIn = CudaStandIn.loaded().orElseThrow();
        Path library = folder.resolve("libonnxruntime.so");
        compile(library);
        Files.createFile(folder.resolve("libonnxruntime_providers_cuda.so"));
        for (CudaDevice device : CudaDevices.find().all()) {
            device.pool().limit(1 << 20);
        }
        backend = new OnnxRuntimeBackend();
        try {
            backend.start(Map.of("library", library.toString()));
        } catch (GatunException e) {
            // Not so in a build, which runs this class in a process of its own.
            assumeThat(e)
                    .as("another test of this process took an ONNX Runtime")
                    .hasMessageNotContaining("already uses");
            throw e;
        }
    }

    private static void compile(Path library) throws Exception {
        Path real = LibraryCache.ofUser()
                .unpack(ClassLoader.getSystemResource("ai/onnxruntime/native/linux-"
                        + (System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x64")
                        + "/libonnxruntime.so"));
        Path top = Path.of("..", "..");
        Process compiler = new ProcessBuilder(
                        System.getenv().getOrDefault("CC", "cc"),
                        "-std=c11",
                        "-D_GNU_SOURCE",
                        "-shared",
                        "-fPIC",
                        "-DREAL_LIBRARY=\"" + real + "\"",
                        "-I" + top.resolve("native-headers/onnxruntime"),
                        "-I" + top.resolve("bindings/src/test/c/cuda-standin"),
                        "-o",
                        library.toString(),
                        Path.of(OnnxGpuTest.class
                                        .getResource("onnxruntime_cuda.c")
                                        .toURI())
                                .toString(),
                        "-ldl")
                .inheritIO()
                .start();
        assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
    }

    @AfterAll
    static void close() {
        if (backend != null) {
            backend.close();
        }
    }

    @AfterEach
    void nothingShouldBeLeft() {
        arena.close();
        assertThat(LiveHandles.values()).as("live values").isZero();
        assertThat(LiveHandles.sessions()).as("live sessions").isZero();
    }

    private static Path mlp() {
        return EXAMPLES.resolve("models-gpu/mlp_onnx/1");
    }

    private BackendInstance instance(Path version, Device device, ModelConfig.Builder config) {
        return backend.load(backend.complete(config.build(), version), version)
                .newInstance(new InstanceSpec("m_0", 1, device));
    }

    private BackendInstance mlpOn(Device device) {
        return instance(mlp(), device, ModelConfig.newBuilder().setName("mlp").setMaxBatchSize(8));
    }

    private Tensor rows() {
        return new Tensor(
                X, arena.allocate(ROWS.length * 4L, 64).copyFrom(arena.allocateFrom(ValueLayout.JAVA_FLOAT, ROWS)));
    }

    private float[] onProcessor() {
        try (BackendInstance instance = mlpOn(Device.CPU)) {
            RecordedExecution execution = new RecordedExecution("y").input(rows());
            instance.execute(execution);
            return execution.output("y").bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private static CudaDevice gpu(int ordinal) {
        return CudaDevices.find().device(ordinal).orElseThrow();
    }

    @Test
    void shouldOfferGpusWhereTheProviderIs() {
        assertThat(backend.runsOn(Device.Kind.GPU)).isTrue();
        assertThat(backend.advice(Device.Kind.GPU)).isEmpty();
    }

    @Test
    void shouldComputeOnAGpuWhatItComputesOnTheProcessor() {
        float[] expected = onProcessor();
        assertThat(expected).hasSize(6).doesNotContain(0);
        // Late work makes a wait that is missing visible.
        standIn.delay(Duration.ofMillis(5));
        for (int gpu = 0; gpu < 2; gpu++) {
            try (BackendInstance instance = mlpOn(new Device(Device.Kind.GPU, gpu))) {
                instance.warmUp();
                for (int i = 0; i < 3; i++) {
                    RecordedExecution execution = new RecordedExecution("y").input(rows());
                    instance.execute(execution);
                    assertThat(execution.output("y").bytes().toArray(ValueLayout.JAVA_FLOAT))
                            .isEqualTo(expected);
                }
            }
        }
    }

    /** A tensor of a client's on a GPU, and a run that answers into one. */
    private static final class OnDevice implements RegionLease {
        private final DeviceMemory memory;

        OnDevice(DeviceMemory memory) {
            this.memory = memory;
        }

        @Override
        public MemorySegment segment() {
            throw new AssertionError("nobody needs the bytes here");
        }

        @Override
        public Optional<DeviceMemory> device() {
            return Optional.of(memory);
        }

        @Override
        public long byteSize() {
            return memory.byteSize();
        }

        @Override
        public void settle() {
            throw new AssertionError("nothing was written here");
        }

        @Override
        public void close() {
            // The test owns the memory.
        }
    }

    @Test
    void shouldReadAndWriteWhereTheClientsMemoryIsOnTheGpu() {
        float[] expected = onProcessor();
        try (CudaAllocation x = CudaAllocation.of(gpu(1), ROWS.length * 4L);
                CudaAllocation y = CudaAllocation.of(gpu(1), 6 * 4L);
                BackendInstance instance = mlpOn(new Device(Device.Kind.GPU, 1))) {
            x.write(0, rows().bytes());
            RecordedExecution inner = new RecordedExecution("y").input(Tensor.inRegion(X, new OnDevice(x.memory())));
            long before = standIn.count(Count.COPIES);
            instance.execute(new IntoDevice(inner, y.memory()));
            assertThat(standIn.count(Count.COPIES) - before)
                    .as("only the stand-in's own: to the processor and back")
                    .isEqualTo(2);
            MemorySegment response = arena.allocate(6 * 4L);
            y.read(0, response);
            assertThat(response.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(expected);
        }
    }

    /** A run whose one output goes to memory on the GPU. */
    private record IntoDevice(RecordedExecution inner, DeviceMemory target) implements Execution {
        @Override
        public int inputCount() {
            return inner.inputCount();
        }

        @Override
        public Tensor input(int index) {
            return inner.input(index);
        }

        @Override
        public int outputCount() {
            return inner.outputCount();
        }

        @Override
        public String outputName(int index) {
            return inner.outputName(index);
        }

        @Override
        public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
            throw new AssertionError("the output belongs on the GPU");
        }

        @Override
        public DeviceMemory output(
                int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
            assertThat(shape).isEqualTo(Y.shape());
            return target.slice(0, byteSize);
        }

        @Override
        public void outputFromInput(int output, int input, Shape shape) {
            inner.outputFromInput(output, input, shape);
        }

        @Override
        public void inferStarted() {
            inner.inferStarted();
        }

        @Override
        public void inferEnded() {
            inner.inferEnded();
        }
    }

    @Test
    void shouldLetTheEngineSizeAnOutputWhoseDimensionTheFileMisnames(@TempDir Path version) {
        // Twice as long as the name of its dimension says.
        OnnxFile.write(
                version,
                "Concat",
                List.of(OnnxValues.of("a", Datatype.INT32, "n"), OnnxValues.of("b", Datatype.INT32, "m")),
                List.of(OnnxValues.of("y", Datatype.INT32, "n")),
                "axis",
                0);
        try (BackendInstance instance = instance(
                version,
                new Device(Device.Kind.GPU, 0),
                ModelConfig.newBuilder().setName("twice"))) {
            for (int i = 0; i < 2; i++) {
                RecordedExecution execution =
                        new RecordedExecution("y").ints("a", Shape.of(2), 1, 2).ints("b", Shape.of(2), 3, 4);
                instance.execute(execution);
                assertThat(execution.ints("y")).containsExactly(1, 2, 3, 4);
            }
        }
    }

    @Test
    void shouldLeaveStringsInSystemMemory() {
        Path version = EXAMPLES.resolve("models/simple_string/1");
        String[] numbers = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
        try (BackendInstance instance = instance(
                version,
                new Device(Device.Kind.GPU, 0),
                ModelConfig.newBuilder().setName("simple_string").setMaxBatchSize(8))) {
            RecordedExecution execution = new RecordedExecution("OUTPUT0", "OUTPUT1")
                    .texts("INPUT0", Shape.of(1, 16), numbers)
                    .texts("INPUT1", Shape.of(1, 16), numbers);
            instance.execute(execution);
            assertThat(execution.texts("OUTPUT0")).startsWith("2", "4", "6").endsWith("32");
            assertThat(execution.texts("OUTPUT1")).containsOnly("0");
        }
    }

    @Test
    void shouldGiveTheGpusMemoryBackWhenItsSessionIsClosed() {
        long before = standIn.count(Count.STREAMS);
        try (BackendInstance instance = mlpOn(new Device(Device.Kind.GPU, 0))) {
            instance.warmUp();
            assertThat(standIn.count(Count.STREAMS)).isGreaterThan(before);
        }
        assertThat(standIn.count(Count.STREAMS)).isEqualTo(before);
    }

    @Test
    void shouldAnswerWithAnErrorWhenTheGpuIsFullAndGoOn() {
        float[] expected = onProcessor();
        try (BackendInstance instance = mlpOn(new Device(Device.Kind.GPU, 0))) {
            standIn.fail("cuMemAlloc", 2, 0);
            standIn.fail("cuMemAllocAsync", 2, 0);
            RecordedExecution refused = new RecordedExecution("y").input(rows());
            assertThatThrownBy(() -> instance.execute(refused))
                    .isInstanceOf(GatunException.class)
                    .hasMessageContaining("out of memory");
            standIn.reset();
            RecordedExecution execution = new RecordedExecution("y").input(rows());
            instance.execute(execution);
            assertThat(execution.output("y").bytes().toArray(ValueLayout.JAVA_FLOAT))
                    .isEqualTo(expected);
        }
    }

    @Test
    void shouldSayWhatTheProviderRefuses() {
        ModelConfig.Builder config = ModelConfig.newBuilder()
                .setName("mlp")
                .setMaxBatchSize(8)
                .putParameters(
                        "gpu_mem_limit",
                        ModelParameter.newBuilder().setStringValue("much").build());
        assertThatThrownBy(() -> instance(mlp(), new Device(Device.Kind.GPU, 0), config))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("ONNX Runtime cannot run model 'mlp' on a GPU")
                .hasMessageContaining("gpu_mem_limit");
    }
}
