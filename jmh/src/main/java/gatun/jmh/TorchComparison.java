// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.torch.torch_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Runs of compiled models of PyTorch by the backend beside a loop in C that has the same library run the same model on the
 * same tensors, in turn in one process, so that a machine that is busy with other things is so for both: the medians, and
 * the median of the ratios of neighbours. Needs {@code ./gatun install pytorch}.
 *
 * <p>Arguments: the folder of the example models, and turns (default 200).
 */
public final class TorchComparison {
    private static final long ALIGNMENT = 64;
    private static final long SLOTS = 10;

    /** Turns until Java is compiled, of {@link #RUNS} runs each. */
    private static final int WARM_UP = 300;

    private static final int RUNS = 200;

    /** Measured are models whose inputs are all of one shape, and whose outputs are. */
    private record Case(String model, int rows, int inputs, List<Long> dims, int outputs, long outputFloats) {}

    private static final Case[] CASES = {
        new Case("add_sub", 1, 2, List.of(16L), 2, 16),
        new Case("add_sub", 64, 2, List.of(16L), 2, 16),
        new Case("classifier", 1, 1, List.of(16L), 1, 5),
        new Case("classifier", 64, 1, List.of(16L), 1, 5),
        new Case("convolution", 1, 1, List.of(3L, 16L, 16L), 1, 5),
        new Case("convolution", 8, 1, List.of(3L, 16L, 16L), 1, 5)
    };

    private final Arena arena = Arena.ofShared();
    private final Path models;

    private TorchComparison(Path models) {
        this.models = models;
    }

    /** Measures. */
    public static void main(String[] arguments) throws Throwable {
        Path models = Path.of(arguments[0]);
        int turns = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 200;
        System.out.printf(
                Locale.ROOT, "%-12s %6s %14s %14s %10s%n", "model", "rows", "C loop, us", "backend, us", "ratio");
        for (Case one : CASES) {
            System.out.println(new TorchComparison(models).compare(one, turns));
        }
    }

    private String compare(Case one, int turns) throws Throwable {
        Path folder = models.resolve(one.model).resolve("1");
        Shape shape =
                Shape.of(one.dims.stream().mapToLong(Long::longValue).toArray()).prepend(one.rows);
        Request request = new Request(one, shape, arena);
        try (Backend backend = backend();
                BackendModel model = model(backend, folder);
                BackendInstance instance = model.newInstance(new InstanceSpec("benchmark", 1, Device.CPU))) {
            MethodHandle loop = loop();
            MemorySegment functions = arena.allocate(ValueLayout.ADDRESS, 5);
            MemorySegment arguments = arguments(one, shape, request, functions, folder);
            double[] c = new double[turns];
            double[] java = new double[turns];
            double[] ratios = new double[turns];
            for (int i = -WARM_UP; i < turns; i++) {
                long begin = System.nanoTime();
                check((int) loop.invokeExact(functions, arguments, (long) RUNS));
                long middle = System.nanoTime();
                for (int run = 0; run < RUNS; run++) {
                    instance.execute(request);
                }
                long end = System.nanoTime();
                if (i >= 0) {
                    c[i] = (middle - begin) / 1e3 / RUNS;
                    java[i] = (end - middle) / 1e3 / RUNS;
                    ratios[i] = java[i] / c[i];
                }
            }
            return String.format(
                    Locale.ROOT,
                    "%-12s %6d %14.2f %14.2f %10.3f",
                    one.model,
                    one.rows,
                    Median.of(c),
                    Median.of(java),
                    Median.of(ratios));
        }
    }

    private static Backend backend() {
        Backend backend = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.name().equals("torch_aoti"))
                .findFirst()
                .orElseThrow();
        backend.start(Map.of());
        return backend;
    }

    private static BackendModel model(Backend backend, Path folder) {
        ModelConfig config = ModelConfig.newBuilder()
                .setName("compiled")
                .putParameters(
                        "INTRA_OP_THREAD_COUNT",
                        ModelParameter.newBuilder().setStringValue("1").build())
                .build();
        return backend.load(backend.complete(config, folder), folder);
    }

    @SuppressWarnings("restricted")
    private MethodHandle loop() {
        SymbolLookup library =
                SymbolLookup.libraryLookup(BenchmarkFiles.compile("torch_loop.c", "native-headers"), arena);
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find("torch_loop").orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    }

    /** What the loop works with: its functions, and the request. */
    @SuppressWarnings("restricted")
    private MemorySegment arguments(Case one, Shape shape, Request request, MemorySegment functions, Path folder)
            throws Throwable {
        SymbolLookup library = SymbolLookup.libraryLookup(library(folder), arena);
        functions.setAtIndex(ValueLayout.ADDRESS, 0, torch_h.aoti_torch_create_tensor_from_blob$address());
        functions.setAtIndex(ValueLayout.ADDRESS, 1, torch_h.aoti_torch_delete_tensor_object$address());
        functions.setAtIndex(ValueLayout.ADDRESS, 2, torch_h.aoti_torch_get_data_ptr$address());
        functions.setAtIndex(ValueLayout.ADDRESS, 3, torch_h.aoti_torch_get_sizes$address());
        functions.setAtIndex(
                ValueLayout.ADDRESS,
                4,
                library.find("AOTInductorModelContainerRun").orElseThrow());
        MemorySegment container = arena.allocate(ValueLayout.ADDRESS);
        MethodHandle create = Linker.nativeLinker()
                .downcallHandle(
                        library.find("AOTInductorModelContainerCreateWithDevice")
                                .orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS));
        check((int) create.invokeExact(container, 1L, arena.allocateFrom("cpu"), MemorySegment.NULL));
        int rank = shape.rank();
        MemorySegment sizes = arena.allocateFrom(ValueLayout.JAVA_LONG, shape.toArray());
        MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, rank);
        long stride = 1;
        for (int i = rank - 1; i >= 0; i--) {
            strides.setAtIndex(ValueLayout.JAVA_LONG, i, stride);
            stride *= shape.dim(i);
        }
        long[] slots = {
            container.get(ValueLayout.ADDRESS, 0).address(),
            sizes.address(),
            strides.address(),
            rank,
            torch_h.aoti_torch_dtype_float32(),
            one.inputs,
            request.input.bytes().address(),
            one.outputs,
            one.outputFloats,
            request.output.address()
        };
        MemorySegment arguments = arena.allocate(ValueLayout.JAVA_LONG, SLOTS);
        MemorySegment.copy(slots, 0, arguments, ValueLayout.JAVA_LONG, 0, slots.length);
        return arguments;
    }

    /** The library of a package, in a file that goes with the process. */
    private static Path library(Path folder) throws IOException {
        Path library = Files.createTempFile("gatun-torch", ".so");
        library.toFile().deleteOnExit();
        try (ZipFile archive = new ZipFile(folder.resolve("model.pt2").toFile())) {
            for (ZipEntry entry : Collections.list(archive.entries())) {
                if (entry.getName().endsWith(".so")) {
                    try (InputStream in = archive.getInputStream(entry)) {
                        Files.copy(in, library, StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
        }
        return library;
    }

    private static void check(int returned) {
        if (returned != 0) {
            throw new IllegalStateException("the library failed");
        }
    }

    /** A request whose memory is there already; all inputs are the same, and all outputs go to the same place. */
    private static final class Request implements Execution {
        private final Case one;
        private final Tensor input;
        private final Tensor[] inputs;
        private final String[] outputNames;
        private final MemorySegment output;

        Request(Case one, Shape shape, Arena arena) {
            this.one = one;
            MemorySegment bytes = arena.allocate(shape.byteSize(Datatype.FP32), ALIGNMENT);
            for (long i = 0; i < bytes.byteSize() / Float.BYTES; i++) {
                bytes.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (i % 7 - 3));
            }
            inputs = new Tensor[one.inputs];
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = new Tensor(new TensorSpec("ARGS[" + i + "]", Datatype.FP32, shape), bytes);
            }
            input = inputs[0];
            outputNames = new String[one.outputs];
            for (int i = 0; i < outputNames.length; i++) {
                outputNames[i] = outputNames.length == 1 ? "RESULT" : "RESULT[" + i + "]";
            }
            output = arena.allocate(one.rows * one.outputFloats * Float.BYTES, ALIGNMENT);
        }

        @Override
        public int inputCount() {
            return inputs.length;
        }

        @Override
        public Tensor input(int index) {
            return inputs[index];
        }

        @Override
        public int outputCount() {
            return one.outputs;
        }

        @Override
        public String outputName(int index) {
            return outputNames[index];
        }

        @Override
        public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
            return output;
        }

        @Override
        public void outputFromInput(int output, int input, Shape shape) {
            throw new IllegalStateException("no output of these models is an input");
        }

        @Override
        public void inferStarted() {}

        @Override
        public void inferEnded() {}
    }
}
