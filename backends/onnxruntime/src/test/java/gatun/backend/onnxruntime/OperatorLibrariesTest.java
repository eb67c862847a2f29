// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.testing.OnnxGraph;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Models with an operator that ONNX Runtime does not have, and the library that brings it. */
@Timeout(120)
class OperatorLibrariesTest {
    @TempDir
    static Path compiled;

    private static Path library;

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(
            64 << 20,
            () -> assertThat(LiveHandles.sessions()).as("live sessions").isZero());

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each test
    private GatunServer server;

    @BeforeAll
    static void compile() throws Exception {
        library = compiled.resolve("plus_one.so");
        Path source =
                Path.of(OperatorLibrariesTest.class.getResource("plus_one.c").toURI());
        Process compiler = new ProcessBuilder(
                        System.getenv().getOrDefault("CC", "cc"),
                        "-std=c11",
                        "-shared",
                        "-fPIC",
                        "-o",
                        library.toString(),
                        source.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
        assertThat(compiler.waitFor()).as(output).isZero();
    }

    @BeforeEach
    void open() {
        server = runtime.serve(options -> options.repository(repository).controlMode(ControlMode.EXPLICIT));
    }

    /** A model that adds one, whose configuration has a few more fields. */
    private void model(String fields) throws IOException {
        new OnnxGraph()
                .input("x", OnnxGraph.FLOAT, "n", "k")
                .output("y", OnnxGraph.FLOAT, "n", "k")
                .node("gatun.test.PlusOne", "x", "y")
                .write(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), fields);
    }

    private void load() {
        server.load("m", ModelOverride.NONE);
    }

    private List<Float> plusOne(float... values) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Shape shape = Shape.of(1, values.length);
        Buffer buffer = pool.take((long) values.length * Float.BYTES);
        request.hold(buffer);
        MemorySegment.copy(values, 0, buffer.segment(), ValueLayout.JAVA_FLOAT, 0, values.length);
        request.addInput(new Tensor(new TensorSpec("x", Datatype.FP32, shape), buffer.segment()));
        try (InferenceResponse response = server.infer(request)) {
            MemorySegment bytes = response.outputs().getFirst().tensor().bytes();
            return bytes.elements(ValueLayout.JAVA_FLOAT)
                    .map(element -> element.get(ValueLayout.JAVA_FLOAT, 0))
                    .toList();
        }
    }

    @Test
    void shouldRunOperatorsOfALibraryAndCompleteTheConfiguration() throws IOException {
        model("model_operations { op_library_filename: \"" + library + "\" }");
        load();
        assertThat(server.model("m", "").config().getInput(0).getName()).isEqualTo("x");
        assertThat(plusOne(1, 5)).containsExactly(2f, 6f);
    }

    @Test
    void shouldFindALibraryInTheModelsFolder() throws IOException {
        model("model_operations { op_library_filename: \"operators/plus_one.so\" } instance_group { count: 2 }");
        Files.createDirectories(repository.resolve("m/operators"));
        Files.copy(library, repository.resolve("m/operators/plus_one.so"));
        load();
        assertThat(plusOne(-1)).containsExactly(0f);
        server.unload("m", false);
        load();
        assertThat(plusOne(2)).containsExactly(3f);
    }

    @Test
    void shouldSayWhichLibraryIsMissing() throws IOException {
        model("model_operations { op_library_filename: \"absent.so\" }");
        assertThatThrownBy(this::load)
                .hasMessageContaining("'op_library_filename' of model 'm' is 'absent.so', and there is no file "
                        + repository.resolve("m/absent.so"));
    }

    @Test
    void shouldSayWhichLibraryCannotBeRegistered() throws IOException {
        model("model_operations { op_library_filename: \"text.so\" }");
        Path text = Files.writeString(repository.resolve("m/text.so"), "no library");
        assertThatThrownBy(this::load)
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("the library of operators " + text + " of model 'm' cannot be registered: ")
                .hasMessageContaining("expected a library that was built for ONNX Runtime ");
    }

    @Test
    void shouldTakeNoLibraryOfARequest() throws IOException {
        model("model_operations { op_library_filename: \"plus_one.so\" }");
        Files.copy(library, repository.resolve("m/plus_one.so"));
        byte[] graph = Files.readAllBytes(repository.resolve("m/1/model.onnx"));
        byte[] operators = Files.readAllBytes(library);

        assertThatThrownBy(() -> server.load(
                        "m",
                        new ModelOverride(
                                "{\"model_operations\":{\"op_library_filename\":[\"/lib/x.so\"]}}", Map.of())))
                .isInstanceOf(OverrideRefusedException.class)
                .hasMessageContaining("'model_operations' of the request's configuration");
        assertThatThrownBy(() -> server.load(
                        "m",
                        new ModelOverride(
                                "{}",
                                Map.of(
                                        "1/model.onnx",
                                        MemorySegment.ofArray(graph),
                                        "plus_one.so",
                                        MemorySegment.ofArray(operators)))))
                .isInstanceOf(OverrideRefusedException.class)
                .hasMessageContaining("names 'plus_one.so' in the model's folder as a library of operators");
        load();
        assertThat(plusOne(1)).containsExactly(2f);
    }
}
