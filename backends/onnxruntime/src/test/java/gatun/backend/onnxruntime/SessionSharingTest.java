// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.threads.Cores;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.Tuning;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOptimizationPolicy.ExecutionAccelerators.Accelerator;
import gatun.wire.inference.ModelParameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which sessions a model opens, on which threads and from which graph. Each test ends with no native object left. */
class SessionSharingTest {
    private static final Path VERSION =
            Path.of("..", "..", "examples", "models").resolve("simple").resolve("1");
    private static final int CORES = Cores.physical();
    private static final int SESSIONS = CORES == 1 ? 1 : 2;

    @TempDir
    Path folder;

    @AfterEach
    void nothingShouldBeLeft() {
        assertThat(LiveHandles.values()).as("live values").isZero();
        assertThat(LiveHandles.sessions()).as("live sessions").isZero();
    }

    private static OnnxRuntimeBackend backend(Map<String, String> options) {
        OnnxRuntimeBackend backend = new OnnxRuntimeBackend();
        backend.start(options);
        return backend;
    }

    private static ModelConfig simple(OnnxRuntimeBackend backend) {
        return backend.complete(
                ModelConfig.newBuilder().setName("simple").setMaxBatchSize(8).build(), VERSION);
    }

    private static List<BackendInstance> open(BackendModel model, int count) {
        return open(model, count, new LearningTuning());
    }

    private static List<BackendInstance> open(BackendModel model, int count, Tuning tuning) {
        List<BackendInstance> instances = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            instances.add(model.newInstance(new InstanceSpec("simple_" + i, count, Device.CPU, tuning)));
        }
        return instances;
    }

    private void assertAdds(BackendInstance instance) {
        RecordedExecution execution = new RecordedExecution("OUTPUT0")
                .ints("INPUT0", Shape.of(1, 16), IntStream.range(0, 16).toArray())
                .ints("INPUT1", Shape.of(1, 16), IntStream.range(0, 16).toArray());
        instance.execute(execution);
        assertThat(execution.ints("OUTPUT0"))
                .containsExactly(IntStream.range(0, 16).map(i -> 2 * i).toArray());
    }

    @Test
    void shouldOpenAModelForAllItsInstancesOnce() {
        OnnxRuntimeBackend backend = backend(Map.of());
        BackendModel model = backend.load(simple(backend), VERSION);
        List<BackendInstance> instances = open(model, 2 * CORES);

        assertThat(LiveHandles.sessions()).isEqualTo(SESSIONS);
        assertThat(model.choices()).hasSize(SESSIONS).first().asString().contains(CORES + "", 2 * CORES + " instances");
        instances.removeLast().close();
        instances.forEach(this::assertAdds);
        instances.forEach(BackendInstance::close);
    }

    @Test
    void shouldHaveOneSessionWhereNothingIsLearnt() {
        OnnxRuntimeBackend backend = backend(Map.of());
        BackendModel model = backend.load(simple(backend), VERSION);
        long before = poolThreads();
        List<BackendInstance> instances = open(model, 2, Tuning.OFF);

        assertThat(LiveHandles.sessions()).isOne();
        assertThat(poolThreads()).isEqualTo(before + Math.max(0, CORES - 2));
        instances.forEach(this::assertAdds);
        instances.forEach(BackendInstance::close);
    }

    @Test
    void shouldOpenAModelForEachInstanceWhoseThreadsItCounts() {
        OnnxRuntimeBackend backend = backend(Map.of());
        ModelConfig config = simple(backend).toBuilder()
                .putParameters(
                        "intra_op_thread_count",
                        ModelParameter.newBuilder().setStringValue("2").build())
                .build();
        BackendModel model = backend.load(config, VERSION);
        List<BackendInstance> instances = open(model, 3);

        assertThat(LiveHandles.sessions()).isEqualTo(3);
        assertThat(model.choices()).containsExactly("threads of each instance: 2, as intra_op_thread_count says");
        instances.forEach(this::assertAdds);
        instances.forEach(BackendInstance::close);
    }

    @Test
    void shouldLoadAtALowerPriorityThanItRuns() throws IOException {
        OnnxRuntimeBackend backend = backend(Map.of());
        ModelConfig config = simple(backend).toBuilder()
                .putParameters(
                        "intra_op_thread_count",
                        ModelParameter.newBuilder().setStringValue("3").build())
                .build();
        long before = poolThreads();
        List<BackendInstance> instances = open(backend.load(config, VERSION), 1);

        assertThat(poolThreads()).isEqualTo(before + 2);
        assertThat(poolPriorities()).isNotEmpty().containsOnly(priority(Path.of("/proc/thread-self")));
        instances.forEach(this::assertAdds);
        instances.forEach(BackendInstance::close);
        assertThat(poolThreads()).isEqualTo(before);
    }

    private static long poolThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("onnxruntime-\\d+"))
                .count();
    }

    /** The priorities of the threads that run pools, as Linux counts them. */
    private static List<String> poolPriorities() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            List<String> priorities = new ArrayList<>();
            for (Path thread : threads.toList()) {
                try {
                    if (Files.readString(thread.resolve("comm")).matches("onnxruntime-\\d+\\n")) {
                        priorities.add(priority(thread));
                    }
                } catch (IOException e) {
                    // It has ended meanwhile, as the one has that loaded the model.
                }
            }
            return priorities;
        }
    }

    private static String priority(Path thread) throws IOException {
        String stat = Files.readString(thread.resolve("stat"));
        // Behind the name, which may hold anything: the state is field 3, and the priority field 19.
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19 - 3];
    }

    @Test
    void shouldRunOnTheThreadsOfTheProcess() throws IOException {
        assumeThat(CORES)
                .as("cores, of which sessions use all but the caller's")
                .isGreaterThan(1);

        assertThat(threadsOfASession("1"))
                .as("threads of a session that shares those of the process")
                .isZero();
        assertThat(threadsOfASession("0")).as("threads of a session of its own").isPositive();
    }

    /** How many threads a session brings with this value of the option. */
    private int threadsOfASession(String sharesThreads) throws IOException {
        OnnxRuntimeBackend backend = backend(Map.of("enable-global-threadpool", sharesThreads));
        BackendModel model = backend.load(simple(backend), VERSION);
        int before = poolPriorities().size();
        List<BackendInstance> instances = open(model, 1);
        instances.forEach(this::assertAdds);
        int after = poolPriorities().size();
        instances.forEach(BackendInstance::close);
        return after - before;
    }

    @Test
    void shouldKeepTheOptimisedGraphAndUseIt() throws IOException {
        Path kept = folder.resolve("kept");
        for (int start = 0; start < 2; start++) {
            OnnxRuntimeBackend backend = backend(Map.of("model-cache-dir", kept.toString()));
            List<BackendInstance> instances = open(backend.load(simple(backend), VERSION), 1);
            instances.forEach(this::assertAdds);
            instances.forEach(BackendInstance::close);
            assertThat(files(kept)).as("after start " + start).hasSize(1);
        }
    }

    @Test
    void shouldReplaceAnOptimisedGraphThatIsBroken() throws IOException {
        OnnxRuntimeBackend backend = backend(Map.of("model-cache-dir", folder.toString()));
        open(backend.load(simple(backend), VERSION), 1).forEach(BackendInstance::close);
        Path graph = files(folder).getFirst();
        long byteSize = Files.size(graph);
        Files.writeString(graph, "this is no graph");

        List<BackendInstance> instances = open(backend.load(simple(backend), VERSION), 1);

        instances.forEach(this::assertAdds);
        instances.forEach(BackendInstance::close);
        assertThat(files(folder)).containsExactly(graph);
        assertThat(graph).hasSize(byteSize);
    }

    @Test
    void shouldKeepGraphsOfOtherOptionsApart() throws IOException {
        OnnxRuntimeBackend backend = backend(Map.of("model-cache-dir", folder.toString()));
        ModelConfig config = simple(backend);
        open(backend.load(config, VERSION), 1).forEach(BackendInstance::close);
        ModelConfig.Builder basic = config.toBuilder();
        basic.getOptimizationBuilder().getGraphBuilder().setLevel(-1);
        open(backend.load(basic.build(), VERSION), 1).forEach(BackendInstance::close);
        basic.getOptimizationBuilder().getGraphBuilder().setLevel(2);
        open(backend.load(basic.build(), VERSION), 1).forEach(BackendInstance::close);

        assertThat(files(folder))
                .as("two levels that optimise, and one that does not")
                .hasSize(2);
    }

    @Test
    void shouldSayThatOptimisedGraphsCannotBeKept() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> backend(Map.of("model-cache-dir", file.toString())))
                .withMessageStartingWith("model-cache-dir=" + file + ": optimised models cannot be kept there")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }

    @Test
    void shouldRefuseAcceleratorsThatTheLibraryLacks() {
        OnnxRuntimeBackend backend = backend(Map.of());
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> open(backend.load(accelerated(backend, "openvino"), VERSION), 1))
                .withMessageContaining("asks for the execution accelerator 'openvino'")
                .withMessageContaining("was built without it, with")
                .withMessageContaining("CPUExecutionProvider")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> open(backend.load(accelerated(backend, "warp"), VERSION), 1))
                .withMessageContaining("'warp': those that can be used are openvino and xnnpack");
    }

    private static ModelConfig accelerated(OnnxRuntimeBackend backend, String name) {
        ModelConfig.Builder config = simple(backend).toBuilder();
        config.getOptimizationBuilder()
                .getExecutionAcceleratorsBuilder()
                .addCpuExecutionAccelerator(Accelerator.newBuilder().setName(name));
        return config.build();
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
