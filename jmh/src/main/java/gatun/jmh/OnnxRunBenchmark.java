// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One run of the example model {@code simple} (two INT32 tensors of 16 elements in, two out) with tensors prepared
 * beforehand: from a C loop, through FFM, and through the official Java API, which uses JNI. The last case is what a
 * caller of the Java API writes who has the data in direct buffers and makes tensors for each request.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xms512m", "-Xmx512m"})
public class OnnxRunBenchmark {
    private static final int ELEMENTS = 16;
    private static final int LOOP = 1000;

    private final Arena arena = Arena.ofShared();
    private NativeSession session;
    private MethodHandle loop;

    private OrtEnvironment javaEnvironment;
    private OrtSession javaSession;
    private Map<String, OnnxTensor> javaInputs;
    private Map<String, OnnxTensor> javaOutputs;
    private ByteBuffer[] javaData;

    /** Opens the model three times, in native code, through FFM and through the Java API, and checks that all agree. */
    @Setup(Level.Trial)
    @SuppressWarnings("restricted")
    public void open() throws OrtException {
        Path model = BenchmarkFiles.root().resolve("examples/models/simple/1/model.onnx");
        session = NativeSession.simple(arena, model, ELEMENTS);
        SymbolLookup library =
                SymbolLookup.libraryLookup(BenchmarkFiles.compile("ort_loop.c", "native-headers/onnxruntime"), arena);
        loop = Linker.nativeLinker()
                .downcallHandle(
                        library.find("ort_loop").orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG));

        javaEnvironment = OrtEnvironment.getEnvironment();
        OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        options.setIntraOpNumThreads(1);
        javaSession = javaEnvironment.createSession(model.toString(), options);
        javaData = new ByteBuffer[4];
        for (int i = 0; i < javaData.length; i++) {
            javaData[i] = ByteBuffer.allocateDirect(ELEMENTS * Integer.BYTES).order(ByteOrder.nativeOrder());
        }
        for (int i = 0; i < ELEMENTS; i++) {
            javaData[0].putInt(i * Integer.BYTES, i);
            javaData[1].putInt(i * Integer.BYTES, 1);
        }
        javaInputs = Map.of("INPUT0", javaTensor(0), "INPUT1", javaTensor(1));
        javaOutputs = Map.of("OUTPUT0", javaTensor(2), "OUTPUT1", javaTensor(3));

        ffm();
        javaApi();
        for (int i = 0; i < ELEMENTS; i++) {
            int expected = i + 1;
            if (session.output(0, i) != expected || javaData[2].getInt(i * Integer.BYTES) != expected) {
                throw new IllegalStateException("the ways to run the model disagree at element " + i);
            }
        }
    }

    private OnnxTensor javaTensor(int index) throws OrtException {
        return OnnxTensor.createTensor(javaEnvironment, javaData[index].asIntBuffer(), new long[] {1, ELEMENTS});
    }

    /** A C loop; the figure is for one run. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void cLoop() throws Throwable {
        MemorySegment status = (MemorySegment) loop.invokeExact(
                session.api(),
                session.handle(),
                session.inputNames(),
                session.inputs(),
                2L,
                session.outputNames(),
                2L,
                session.outputs(),
                (long) LOOP);
        session.check(status);
    }

    /** One downcall through the generated bindings. */
    @Benchmark
    public void ffm() {
        session.run();
    }

    /** The official Java API with tensors made once and outputs pinned. */
    @Benchmark
    public void javaApi() throws OrtException {
        javaSession.run(javaInputs, Set.of(), javaOutputs).close();
    }

    /** The official Java API as a request handler uses it: tensors around direct buffers, outputs copied out. */
    @Benchmark
    public int[][] javaApiPerRequest() throws OrtException {
        try (OnnxTensor first = javaTensor(0);
                OnnxTensor second = javaTensor(1);
                OrtSession.Result result = javaSession.run(Map.of("INPUT0", first, "INPUT1", second))) {
            return (int[][]) result.get(0).getValue();
        }
    }

    /** Closes both sessions. */
    @TearDown(Level.Trial)
    public void close() throws OrtException {
        javaInputs.values().forEach(OnnxTensor::close);
        javaOutputs.values().forEach(OnnxTensor::close);
        javaSession.close();
        session.close();
        arena.close();
    }
}
