// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.torch.torch_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
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
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Runs of compiled models of PyTorch by the backend {@linkplain LoopComparison beside a loop in C} that has the same
 * library run the same model on the same tensors. Needs {@code ./gatun install pytorch}.
 *
 * <p>Arguments: the folder of the example models, and turns (default 200).
 */
public final class TorchComparison {
    private static final long ALIGNMENT = 64;
    private static final long SLOTS = 10;

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
        System.out.printf(Locale.ROOT, "%-12s %6s %s%n", "model", "rows", LoopComparison.HEADING);
        for (Case one : CASES) {
            System.out.println(new TorchComparison(models).compare(one, turns));
        }
    }

    private String compare(Case one, int turns) throws Throwable {
        Path folder = models.resolve(one.model).resolve("1");
        Shape shape =
                Shape.of(one.dims.stream().mapToLong(Long::longValue).toArray()).prepend(one.rows);
        MemorySegment input = input(shape);
        MemorySegment output = arena.allocate(one.rows * one.outputFloats * Float.BYTES, ALIGNMENT);
        try (OpenInstance instance = new OpenInstance("torch_aoti", folder, Map.of("INTRA_OP_THREAD_COUNT", "1"))) {
            MethodHandle loop = loop();
            MemorySegment functions = arena.allocate(ValueLayout.ADDRESS, 5);
            MemorySegment arguments = arguments(one, shape, input, output, functions, folder);
            LoopComparison times = LoopComparison.measure(
                    count -> check((int) loop.invokeExact(functions, arguments, count)),
                    instance,
                    request(one, shape, input, output),
                    new LoopComparison.Turns(WARM_UP, turns, RUNS));
            return String.format(Locale.ROOT, "%-12s %6d %s", one.model, one.rows, times);
        }
    }

    private MemorySegment input(Shape shape) {
        MemorySegment bytes = arena.allocate(shape.byteSize(Datatype.FP32), ALIGNMENT);
        for (long i = 0; i < bytes.byteSize() / Float.BYTES; i++) {
            bytes.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (i % 7 - 3));
        }
        return bytes;
    }

    /** All inputs are the same. */
    private static PreparedRequest request(Case one, Shape shape, MemorySegment input, MemorySegment output) {
        List<Tensor> inputs = IntStream.range(0, one.inputs)
                .mapToObj(i -> new Tensor(new TensorSpec("ARGS[" + i + "]", Datatype.FP32, shape), input))
                .toList();
        List<String> outputs = one.outputs == 1
                ? List.of("RESULT")
                : IntStream.range(0, one.outputs)
                        .mapToObj(i -> "RESULT[" + i + "]")
                        .toList();
        return new PreparedRequest(inputs, outputs, output);
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
    private MemorySegment arguments(
            Case one, Shape shape, MemorySegment input, MemorySegment output, MemorySegment functions, Path folder)
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
            input.address(),
            one.outputs,
            one.outputFloats,
            output.address()
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
}
