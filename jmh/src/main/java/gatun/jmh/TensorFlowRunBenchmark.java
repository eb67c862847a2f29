// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.tensorflow.TF_Output;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One run of the SavedModel {@code half_plus_two} with one number and with a tensor of 1 MiB: from loops in C and by
 * the backend as it serves a request. All run sessions of the same file with the same options. Needs {@code ./gatun
 * install tensorflow}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xms512m", "-Xmx512m"})
public class TensorFlowRunBenchmark {
    static final int LOOP = 100;
    private static final int ALIGNMENT = 64;

    /** Numbers in the tensor that goes in, and in the one that comes out. */
    @Param({"1", "262144"})
    public int elements;

    private final Arena arena = Arena.ofShared();
    private OpenInstance instance;
    private PreparedRequest request;
    private MemorySegment input;
    private MemorySegment output;
    private MemorySegment status;
    private MemorySegment graph;
    private MemorySegment session;
    private MemorySegment functions;
    private MemorySegment in;
    private MemorySegment out;
    private MemorySegment dims;
    private MemorySegment target;
    private MethodHandle loop;
    private MethodHandle requests;

    /** Opens the model twice, by the backend and by the C API alone, and checks that all ways agree. */
    @Setup(Level.Trial)
    public void open() throws Throwable {
        Path version = BenchmarkFiles.root().resolve("examples/tensorflow/models/half_plus_two/1");
        instance = new OpenInstance("tensorflow", version, Map.of());
        TensorSpec spec = new TensorSpec("x", Datatype.FP32, Shape.of(elements, 1));
        input = arena.allocate(spec.shape().byteSize(Datatype.FP32), ALIGNMENT);
        for (int i = 0; i < elements; i++) {
            input.setAtIndex(ValueLayout.JAVA_FLOAT, i, i);
        }
        output = arena.allocate(input.byteSize(), ALIGNMENT);
        request = new PreparedRequest(List.of(new Tensor(spec, input)), List.of("y"), output);
        target = arena.allocate(input.byteSize(), ALIGNMENT);
        openAlone(version);

        backend();
        checkAnswer(output);
        cLoop();
        cRequests();
        checkAnswer(target);
    }

    private void openAlone(Path version) {
        status = tensorflow_h.TF_NewStatus();
        graph = tensorflow_h.TF_NewGraph();
        MemorySegment options = tensorflow_h.TF_NewSessionOptions();
        session = tensorflow_h.TF_LoadSessionFromSavedModel(
                options,
                MemorySegment.NULL,
                arena.allocateFrom(version.toString()),
                arena.allocateFrom(ValueLayout.ADDRESS, arena.allocateFrom("serve")),
                1,
                graph,
                MemorySegment.NULL,
                status);
        check(tensorflow_h.TF_GetCode(status));
        tensorflow_h.TF_DeleteSessionOptions(options);
        in = place("x");
        out = place("y");
        dims = arena.allocateFrom(ValueLayout.JAVA_LONG, elements, 1);
        List<MemorySegment> all = List.of(
                tensorflow_h.TF_SessionRun$address(),
                tensorflow_h.TF_NewTensor$address(),
                tensorflow_h.TF_DeleteTensor$address(),
                tensorflow_h.TF_TensorData$address(),
                tensorflow_h.TF_GetCode$address());
        functions = arena.allocate(ValueLayout.ADDRESS, all.size());
        for (int i = 0; i < all.size(); i++) {
            functions.setAtIndex(ValueLayout.ADDRESS, i, all.get(i));
        }
        loop = cFunction("tf_loop");
        requests = cFunction("tf_requests");
    }

    private MemorySegment place(String operation) {
        MemorySegment place = TF_Output.allocate(arena);
        TF_Output.oper(place, tensorflow_h.TF_GraphOperationByName(graph, arena.allocateFrom(operation)));
        TF_Output.index(place, 0);
        return place;
    }

    @SuppressWarnings("restricted")
    private MethodHandle cFunction(String name) {
        SymbolLookup library =
                SymbolLookup.libraryLookup(BenchmarkFiles.compile("tf_loop.c", "native-headers/tensorflow"), arena);
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG));
    }

    private void checkAnswer(MemorySegment answer) {
        for (int i = 0; i < elements; i++) {
            if (answer.getAtIndex(ValueLayout.JAVA_FLOAT, i) != i / 2f + 2) {
                throw new IllegalStateException("the ways to run the model disagree at element " + i);
            }
        }
    }

    private static void check(int code) {
        if (code != tensorflow_h.TF_OK()) {
            throw new IllegalStateException("TensorFlow failed with code " + code);
        }
    }

    /**
     * A C loop around SessionRun and nothing else: one input made before, outputs freed unread; the figure is for one
     * run.
     */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void cLoop() throws Throwable {
        check((int) loop.invokeExact(
                functions, session, in, out, dims, 2, input, target, target.byteSize(), status, (long) LOOP));
    }

    /** A C loop that does what a server must: a tensor for each request, and responses copied to where they belong. */
    @Benchmark
    @OperationsPerInvocation(LOOP)
    public void cRequests() throws Throwable {
        check((int) requests.invokeExact(
                functions, session, in, out, dims, 2, input, target, target.byteSize(), status, (long) LOOP));
    }

    /** The backend, as it serves one request. */
    @Benchmark
    public void backend() {
        instance.execute(request);
    }

    /** Closes both sessions. */
    @TearDown(Level.Trial)
    public void close() {
        tensorflow_h.TF_CloseSession(session, status);
        tensorflow_h.TF_DeleteSession(session, status);
        tensorflow_h.TF_DeleteGraph(graph);
        tensorflow_h.TF_DeleteStatus(status);
        instance.close();
        arena.close();
    }
}
