// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.OrtApiBase;
import gatun.bindings.onnxruntime.onnxruntime_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls the real library, so that a wrong slot or signature in our header shows. */
class OnnxRuntimeTest {
    /** Kept beside the other build output: a library stays open for as long as the process lives. */
    private static final Path CACHE = Path.of("target", "library-cache");

    private static OnnxRuntime runtime;

    @BeforeAll
    static void open() {
        URL library = ClassLoader.getSystemResource("ai/onnxruntime/native/linux-x64/libonnxruntime.so");
        assertThat(library)
                .as("the library in ONNX Runtime's official artifact")
                .isNotNull();
        NativeLibrary opened = OnnxRuntime.open(new LibraryCache(CACHE).unpack(library));
        assertThat(opened).isInstanceOf(NativeLibrary.Available.class);
        runtime = OnnxRuntime.of((NativeLibrary.Available) opened);
    }

    @Test
    void shouldKnowTheVersionOfTheLibrary() {
        assertThat(runtime.version()).matches("1\\.\\d+\\.\\d+");
        assertThat(NativeMemory.string(OrtApi.getBuildInfoString(runtime.api())))
                .contains("ORT Build Info");
        assertThat(runtime.path()).hasFileName("libonnxruntime.so");
    }

    /**
     * With its telemetry on, the library matches the command line with a recursion that overflows this thread's stack.
     */
    @Test
    void shouldStartWithoutTelemetryWhateverTheCommandLine(@TempDir Path temporary) throws Exception {
        try (ChildJvm child = ChildJvm.launch(
                OnnxRuntimeStarter.class,
                List.of("-Djava.io.tmpdir=" + temporary),
                runtime.path().toAbsolutePath().toString(),
                "x".repeat(50_000))) {
            child.awaitLine("started", Duration.ofSeconds(30));
            assertThat(child.awaitExit(Duration.ofSeconds(30))).isZero();
        }
    }

    @Test
    void shouldServeTheSameTableToOlderAndNewerCallers() {
        MemorySegment base = NativeMemory.segment(
                onnxruntime_h.OrtGetApiBase().address(), OrtApiBase.layout().byteSize());
        int newest = Integer.parseInt(runtime.version().replaceFirst("1\\.(\\d+)\\..*", "$1"));
        MemorySegment table = OrtApiBase.GetApi.invoke(OrtApiBase.GetApi(base), newest);
        assertThat(table.address()).isEqualTo(runtime.api().address());
        assertThat(OrtApiBase.GetApi.invoke(OrtApiBase.GetApi(base), newest + 1000))
                .isEqualTo(MemorySegment.NULL);
    }

    @Test
    void shouldTranslateAndFreeTheErrorForAModelThatIsNotThere(@TempDir Path folder) {
        Path absent = folder.resolve("absent.onnx");
        assertThatExceptionOfType(NativeException.class)
                .isThrownBy(() -> createSession(absent))
                .withMessageContaining(absent.toString())
                .satisfies(e -> assertThat(e.code()).isEqualTo(NativeCode.NO_SUCH_FILE));
    }

    @Test
    void shouldTranslateTheErrorForAFileThatIsNoModel(@TempDir Path folder) throws Exception {
        Path text = Files.writeString(folder.resolve("text.onnx"), "This is not a model.");
        assertThatExceptionOfType(NativeException.class)
                .isThrownBy(() -> createSession(text))
                .satisfies(e -> assertThat(e.code()).isEqualTo(NativeCode.INVALID_PROTOBUF));
    }

    @Test
    void shouldCallTheFarEndOfTheTable() {
        MemorySegment api = runtime.api();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
            runtime.check(OrtApi.getAllocatorWithDefaultOptions(api, out));
            MemorySegment allocator = out.get(ValueLayout.ADDRESS, 0);
            MemorySegment shape = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L);
            runtime.check(OrtApi.createTensorAsOrtValue(
                    api, allocator, shape, 1, onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING(), out));
            MemorySegment value = out.get(ValueLayout.ADDRESS, 0);
            runtime.check(OrtApi.getResizedStringTensorElementBuffer(api, value, 0, 11, out));
            NativeMemory.segment(out.get(ValueLayout.ADDRESS, 0).address(), 11)
                    .copyFrom(arena.allocateFrom("Gatun Locks").asSlice(0, 11));
            MemorySegment length = arena.allocate(ValueLayout.JAVA_LONG);
            runtime.check(OrtApi.getStringTensorElementLength(api, value, 0, length));
            assertThat(length.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(11);
            MemorySegment text = arena.allocate(12);
            runtime.check(OrtApi.getStringTensorElement(api, value, 11, 0, text));
            assertThat(text.getString(0)).isEqualTo("Gatun Locks");
            OrtApi.releaseValue(api, value);
        }
    }

    private static void createSession(Path model) {
        MemorySegment api = runtime.api();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
            runtime.check(OrtApi.createEnv(
                    api, onnxruntime_h.ORT_LOGGING_LEVEL_FATAL(), arena.allocateFrom("gatun-test"), out));
            MemorySegment env = out.get(ValueLayout.ADDRESS, 0);
            runtime.check(OrtApi.createSessionOptions(api, out));
            MemorySegment options = out.get(ValueLayout.ADDRESS, 0);
            try {
                runtime.check(OrtApi.setIntraOpNumThreads(api, options, 1));
                runtime.check(OrtApi.createSession(api, env, arena.allocateFrom(model.toString()), options, out));
            } finally {
                OrtApi.releaseSessionOptions(api, options);
                OrtApi.releaseEnv(api, env);
            }
        }
    }
}
