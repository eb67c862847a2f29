// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.RequestedOutput;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The backend as the runtime finds and drives it, on a GPU or on the stand-in for CUDA's driver. */
@Timeout(60)
class CudaBackendTest {
    private static final int OUT_OF_MEMORY = 2;
    private static final int OUT_OF_RESOURCES = 701;

    private static final String COPY = """
            input [ { name: "FROM" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            output [ { name: "TO" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            parameters { key: "kernels" value { string_value: "copy" } }
            parameters { key: "copy.function" value { string_value: "copy_bytes" } }
            parameters { key: "copy.grid" value { string_value: "ceil(bytes(FROM) / 64)" } }
            parameters { key: "copy.block" value { string_value: "64" } }
            parameters { key: "copy.arguments" value { string_value: "FROM, TO, int64 bytes(FROM)" } }
            parameters { key: "shape.TO" value { string_value: "dim(FROM, 0)" } }
            """;

    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    @TempDir
    Path repository;

    private ServedKernels served;

    @BeforeEach
    void needAGpu() {
        CudaDevices devices = CudaDevices.find();
        assumeThat(devices.count()).as("GPUs: " + devices.absence()).isPositive();
        served = new ServedKernels(repository);
    }

    @AfterEach
    void nothingShouldBeLeft() {
        if (served != null) {
            served.close();
        }
    }

    private static CudaStandIn standIn() {
        Optional<CudaStandIn> standIn = CudaStandIn.loaded();
        assumeThat(standIn).as("the stand-in for CUDA's driver").isPresent();
        return standIn.orElseThrow();
    }

    private InferenceRequest simple(int rows, int first) {
        InferenceRequest request = served.request("simple_gpu");
        served.input(request, "INPUT0", Datatype.INT32, Shape.of(rows, 16), numbers(rows * 16, first));
        served.input(request, "INPUT1", Datatype.INT32, Shape.of(rows, 16), numbers(rows * 16, 1));
        return request;
    }

    private static MemorySegment numbers(int count, int first) {
        return MemorySegment.ofArray(IntStream.range(first, first + count).toArray());
    }

    private void requireSimple(InferenceResponse response, int rows, int first) {
        int[] sums = IntStream.range(0, rows * 16).map(i -> first + i + 1 + i).toArray();
        int[] differences = IntStream.range(0, rows * 16).map(i -> first - 1).toArray();
        assertThat(response.outputs().getFirst().tensor().spec())
                .isEqualTo(new TensorSpec("OUTPUT0", Datatype.INT32, Shape.of(rows, 16)));
        assertThat(served.ints(response, 0)).isEqualTo(sums);
        assertThat(served.ints(response, 1)).isEqualTo(differences);
    }

    @Test
    void shouldLaunchAKernelOnSystemMemory() throws IOException {
        served.example("simple_gpu");
        for (int rows = 1; rows <= 8; rows++) {
            try (InferenceResponse response = served.server().infer(simple(rows, 100 * rows))) {
                requireSimple(response, rows, 100 * rows);
            }
        }
    }

    /** What a kernel does with an element that changes meanwhile, nobody knows: two inputs and two outputs are copied. */
    @ParameterizedTest
    @CsvSource({"false, 4", "true, 0"})
    void shouldLaunchOnTheClientsOwnMemoryOnlyWhereTheOperatorTrustsIt(boolean trusts, int copies) throws IOException {
        CudaStandIn standIn = standIn();
        served.example("simple_gpu").trustClients(trusts).server();
        try (Arena arena = Arena.ofConfined();
                CudaAllocation memory = CudaAllocation.of(ServedKernels.gpu(0), 4 * 64)) {
            memory.write(
                    0,
                    arena.allocateFrom(
                            ValueLayout.JAVA_INT, IntStream.range(0, 32).toArray()));
            InferenceRequest request = served.request("simple_gpu");
            for (int i = 0; i < 2; i++) {
                request.addInput(Tensor.inRegion(
                        new TensorSpec("INPUT" + i, Datatype.INT32, Shape.of(1, 16)),
                        new ServedKernels.Window(memory.memory().slice(64L * i, 64))));
                request.addOutput(new RequestedOutput(
                        "OUTPUT" + i,
                        Optional.of(new ServedKernels.Window(memory.memory().slice(128 + 64L * i, 64))),
                        0));
            }
            long before = standIn.count(Count.COPIES);
            served.server().infer(request).close();

            assertThat(standIn.count(Count.COPIES)).isEqualTo(before + copies);
            MemorySegment result = arena.allocate(128);
            memory.read(128, result);
            assertThat(result.asSlice(0, 64).toArray(ValueLayout.JAVA_INT))
                    .isEqualTo(IntStream.range(0, 16).map(i -> 2 * i + 16).toArray());
            assertThat(result.asSlice(64).toArray(ValueLayout.JAVA_INT)).containsOnly(-16);
        }
    }

    @Test
    void shouldMakeOnlyTheOutputsThatAreWantedAndInAnyOrder() throws IOException {
        served.example("simple_gpu");
        InferenceRequest request = served.request("simple_gpu");
        served.input(request, "INPUT1", Datatype.INT32, Shape.of(1, 16), numbers(16, 1));
        served.input(request, "INPUT0", Datatype.INT32, Shape.of(1, 16), numbers(16, 50));
        request.addOutput(RequestedOutput.of("OUTPUT1"));
        try (InferenceResponse response = served.server().infer(request)) {
            assertThat(response.outputs()).hasSize(1);
            assertThat(served.ints(response, 0)).containsOnly(49);
        }
    }

    @Test
    void shouldComputeSizesFromTheShapesOfEachRequest() throws IOException {
        served.example("normalise_transpose");
        for (int[] size : new int[][] {{2, 3, 1}, {1, 1, 2}, {17, 31, 3}, {17, 31, 3}}) {
            int height = size[0];
            int width = size[1];
            int images = size[2];
            byte[] pixels = new byte[images * height * width * 3];
            for (int i = 0; i < pixels.length; i++) {
                pixels[i] = (byte) (i * 7);
            }
            InferenceRequest request = served.request("normalise_transpose");
            served.input(
                    request,
                    "IMAGE",
                    Datatype.UINT8,
                    Shape.of(images, height, width, 3),
                    MemorySegment.ofArray(pixels));
            try (InferenceResponse response = served.server().infer(request)) {
                assertThat(response.outputs().getFirst().tensor().spec().shape())
                        .isEqualTo(Shape.of(images, 3, height, width));
                assertThat(served.floats(response, 0))
                        .usingComparatorWithPrecision(1e-5f)
                        .containsExactly(normalised(pixels, images, height * width));
            }
        }
    }

    private static float[] normalised(byte[] pixels, int images, int area) {
        float[] mean = {0.485f, 0.456f, 0.406f};
        float[] deviation = {0.229f, 0.224f, 0.225f};
        float[] expected = new float[pixels.length];
        for (int image = 0; image < images; image++) {
            for (int pixel = 0; pixel < area; pixel++) {
                for (int c = 0; c < 3; c++) {
                    float value = Byte.toUnsignedInt(pixels[(image * area + pixel) * 3 + c]) / 255f;
                    expected[(image * 3 + c) * area + pixel] = (value - mean[c]) / deviation[c];
                }
            }
        }
        return expected;
    }

    @Test
    void shouldLaunchKernelsInARowThatShareScratchMemory() throws IOException {
        served.example("mlp_gpu");
        float[] all = mlp(new float[] {0.5f, -1, 2, 0.25f, -3, 0, 1, 1});

        assertThat(all).hasSize(6);
        assertThat(mlp(new float[] {-3, 0, 1, 1})).containsExactly(Arrays.copyOfRange(all, 3, 6));
        assertThat(mlp(new float[] {0.5f, -1, 2, 0.25f})).containsExactly(Arrays.copyOf(all, 3));
        assertThat(all[0]).isNotEqualTo(all[3]);
    }

    private float[] mlp(float[] x) {
        InferenceRequest request = served.request("mlp_gpu");
        served.input(request, "x", Datatype.FP32, Shape.of(x.length / 4, 4), MemorySegment.ofArray(x));
        try (InferenceResponse response = served.server().infer(request)) {
            return served.floats(response, 0);
        }
    }

    @Test
    void shouldJoinRequestsToBatches() throws Exception {
        CudaStandIn standIn = standIn();
        served.example("simple_gpu").server();
        standIn.delay(Duration.ofMillis(5));
        List<Future<?>> responses = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 64; i++) {
                int first = 1000 * i;
                responses.add(clients.submit(() -> {
                    try (InferenceResponse response = served.server().infer(simple(1, first))) {
                        requireSimple(response, 1, first);
                    }
                }));
            }
            for (Future<?> answer : responses) {
                answer.get(30, TimeUnit.SECONDS);
            }
        }
        assertThat(served.server().statistics().getFirst().executionCount()).isLessThan(64);
        assertThat(served.server().statistics().getFirst().totals().inferenceCount())
                .isEqualTo(64);
    }

    @Test
    void shouldRunOnEveryGpuThatTheConfigurationNames() throws Exception {
        CudaStandIn standIn = standIn();
        served.example("simple_gpu", "count: 2 gpus: [ 0, 1 ]").server();
        assertThat(standIn.count(Count.MODULES)).isEqualTo(4);
        standIn.delay(Duration.ofMillis(2));
        List<Future<?>> responses = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 100; i++) {
                int first = i;
                responses.add(clients.submit(() -> {
                    try (InferenceResponse response = served.server().infer(simple(8, first))) {
                        requireSimple(response, 8, first);
                    }
                }));
            }
            for (Future<?> answer : responses) {
                answer.get(30, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldAnswerWarmUpRequestsAtLoad() throws IOException {
        CudaStandIn standIn = standIn();
        long before = standIn.count(Count.LAUNCHES);
        served.model("copy", COPY + """
                model_warmup { name: "w" batch_size: 1 count: 3 inputs { key: "FROM" value { data_type: TYPE_UINT8 dims: [ 9 ] zero_data: true } } }
                instance_group { kind: KIND_GPU gpus: [ 0 ] }
                """);
        assertThat(served.reason()).isEmpty();
        assertThat(standIn.count(Count.LAUNCHES)).isEqualTo(before + 3);
    }

    @Test
    void shouldKeepTheStateOfSequences() throws IOException {
        served.model("differences", """
                backend: "cuda"
                max_batch_size: 4
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 16 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 16 ] } ]
                instance_group { kind: KIND_GPU gpus: [ 0 ] }
                sequence_batching {
                  state { input_name: "SUM_IN" output_name: "SUM_OUT" data_type: TYPE_INT32 dims: [ 16 ] }
                }
                parameters { key: "kernels" value { string_value: "vector_add_sub" } }
                parameters { key: "vector_add_sub.grid" value { string_value: "batch" } }
                parameters { key: "vector_add_sub.block" value { string_value: "16" } }
                parameters { key: "vector_add_sub.arguments"
                  value { string_value: "IN, SUM_IN, SUM_OUT, OUT, int32 elements(IN)" } }
                """, ServedKernels.exampleFile("simple_gpu"));
        assertThat(step(1, true, 100)).isEqualTo(100);
        assertThat(step(2, true, 7)).isEqualTo(7);
        assertThat(step(1, false, 30)).isEqualTo(30 - 100);
        assertThat(step(1, false, 1)).isEqualTo(1 - 130);
        assertThat(step(2, false, 8)).isEqualTo(8 - 7);
    }

    /**
     * The first element of the response to a step whose first element is {@code value}: without the sum of those
     * before.
     */
    private int step(long sequence, boolean first, int value) {
        InferenceRequest request = served.request("differences");
        served.input(request, "IN", Datatype.INT32, Shape.of(1, 16), numbers(16, value));
        request.correlationId(sequence);
        request.sequenceStart(first);
        try (InferenceResponse response = served.server().infer(request)) {
            return served.ints(response, 0)[0];
        }
    }

    private InferenceRequest copy(int bytes) {
        InferenceRequest request = served.request("copy");
        byte[] data = new byte[bytes];
        Arrays.fill(data, (byte) 7);
        served.input(request, "FROM", Datatype.UINT8, Shape.of(bytes), MemorySegment.ofArray(data));
        return request;
    }

    private void requireCopy(int bytes) {
        try (InferenceResponse response = served.server().infer(copy(bytes))) {
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .hasSize(bytes)
                    .containsOnly(7);
        }
    }

    private GatunException failure(InferenceRequest request) {
        try (InferenceResponse response = served.server().infer(request)) {
            throw new AssertionError("expected a failure, got " + response.outputs());
        } catch (GatunException e) {
            return e;
        }
    }

    @Test
    void shouldRefuseARequestThatTheGpuCannotLaunch() throws IOException {
        served.model(
                "copy",
                COPY.replace("\"ceil(bytes(FROM) / 64)\"", "\"1, bytes(FROM)\"").replace("\"64\"", "\"64, 1, 1\""));
        requireCopy(3);
        GatunException empty = failure(copy(0));
        GatunException large = failure(copy(65_536));

        assertThat(empty.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
        assertThat(empty)
                .hasMessage("'bytes(FROM)' of the model's parameter 'copy.grid' is 0 for the tensors of this request,"
                        + " expected 1 to 65535");
        assertThat(large.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
        assertThat(large).hasMessageContaining("is 65536 for the tensors of this request, expected 1 to 65535");
        requireCopy(64);
    }

    @Test
    void shouldRefuseARequestWhoseBlocksHaveTooManyThreads() throws IOException {
        served.model("copy", COPY.replace("\"64\"", "\"dim(FROM, 0), 2\""));
        requireCopy(512);
        GatunException tooMany = failure(copy(513));

        assertThat(tooMany.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
        assertThat(tooMany)
                .hasMessage(
                        "a block of kernel 'copy' would have 1026 threads (513 x 2 x 1), expected at most 1024 for this"
                                + " kernel on this GPU; see the model's parameter 'copy.block'");
    }

    @Test
    void shouldRefuseARequestWhoseSharedMemoryOrScalarsDoNotFit() throws IOException {
        served.model(
                "copy",
                COPY.replace(
                        "parameters { key: \"copy.arguments\"",
                        "parameters { key: \"copy.shared_memory\" value { string_value: \"bytes(FROM) * 1024 * 1024\" } }"
                                + " parameters { key: \"copy.arguments\""));
        assertThat(failure(copy(64)))
                .hasMessageStartingWith(
                        "'bytes(FROM) * 1024 * 1024' of the model's parameter 'copy.shared_memory' is 67108864")
                .hasMessageContaining("expected 0 to ");
    }

    @Test
    void shouldNotLoadConstantsThatTheGpuCannotLaunch() throws IOException {
        served.model("copy", COPY.replace("\"64\"", "\"32, 64\""));
        assertThat(served.reason()).contains("a block of kernel 'copy' would have 2048 threads (32 x 64 x 1)");
    }

    @Test
    void shouldNameTheFunctionsThatTheFileHas() throws IOException {
        served.model("copy", COPY.replace("\"copy_bytes\"", "\"copy_words\""));
        assertThat(served.reason())
                .contains(
                        "model 'copy': kernel 'copy': model.ptx has no function 'copy_words', expected one of"
                                + " copy_bytes,"
                                + " spin_nanoseconds, fault; functions of C++ have longer names there, unless they are extern \"C\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "FROM, TO; found 2 arguments, expected 3, as many as the parameters of function 'copy_bytes' in"
                        + " model.ptx",
                "FROM, TO, int64 1, int64 1; found 4 arguments, expected 3, as many as the parameters of",
                "FROM, TO, int32 bytes(FROM); argument 3 has 4 bytes, expected 8, as many as the parameter of",
                "FROM, float 0.5, TO; argument 2 has 4 bytes, expected 8, as many as the parameter of",
            })
    void shouldRefuseArgumentsThatAreNotThoseOfTheFunction(String arguments, String reason) throws IOException {
        served.model("copy", COPY.replace("FROM, TO, int64 bytes(FROM)", arguments));
        assertThat(served.reason()).contains("model 'copy': parameter 'copy.arguments': " + reason);
    }

    @Test
    void shouldSayWhatCudaSaysOfAFileThatCannotBeLoaded() throws IOException {
        served.model(
                "copy",
                "backend: \"cuda\"\n" + COPY,
                ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry copy_bytes() { rubbish "
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(served.reason())
                .contains("model 'copy': cannot load model.ptx (")
                .contains("CUDA_ERROR_INVALID_PTX");
    }

    @Test
    void shouldLaunchFromAFileThatDoesNotTellItsFunctions() throws IOException {
        standIn(); // which takes any file that begins as a fatbin does
        byte[] fatbin = new byte[128];
        ByteBuffer.wrap(fatbin)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0xBA55ED50)
                .putInt(0x00100001);
        served.model("copy", "backend: \"cuda\"\n" + COPY, fatbin);
        requireCopy(100);
    }

    @Test
    void shouldSayWhichFilesAModelMayHave() throws IOException {
        served.model("copy", COPY);
        Path version = repository.resolve("copy").resolve("1");
        Files.copy(version.resolve("model.ptx"), version.resolve("model.cubin"));
        assertThat(served.reason())
                .contains("version 1 of model 'copy' has model.ptx and model.cubin, expected one of them; name it in"
                        + " default_model_filename, or remove the others");
    }

    @Test
    void shouldSayWhichFileIsMissing() throws IOException {
        served.model("copy", COPY + "default_model_filename: \"kernels.ptx\"");
        assertThat(served.reason()).contains("version 1 of model 'copy' has no file kernels.ptx");
    }

    @Test
    void shouldNotRunOnACpu() throws IOException {
        served.model("copy", COPY + "instance_group { kind: KIND_CPU }");
        assertThat(served.reason()).contains("has kind KIND_CPU, but backend 'cuda' runs here on GPUs only");
    }

    @Test
    void shouldGoOnWhenMemoryIsShort() throws IOException {
        CudaStandIn standIn = standIn();
        served.model("copy", COPY + "instance_group { kind: KIND_GPU gpus: [ 0 ] }")
                .server();
        standIn.fail("cuMemAlloc", OUT_OF_MEMORY, 0);
        GatunException failure = failure(copy(1 << 20));
        standIn.reset();

        assertThat(failure.code()).isEqualTo(ErrorCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("CUDA_ERROR_OUT_OF_MEMORY");
        requireCopy(1 << 20);
    }

    @Test
    void shouldNameTheKernelThatCannotBeLaunched() throws IOException {
        CudaStandIn standIn = standIn();
        served.model("copy", COPY + "instance_group { kind: KIND_GPU gpus: [ 0 ] }")
                .server();
        standIn.fail("cuLaunchKernel", OUT_OF_RESOURCES, 1);
        GatunException failure = failure(copy(100));

        assertThat(failure.code()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(failure)
                .hasMessageStartingWith("GPU 0: cuLaunchKernel 'copy' with grid [2, 1, 1] and block [64, 1, 1]: ")
                .hasMessageContaining("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
        requireCopy(100);
    }
}
