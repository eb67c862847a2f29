// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.NativeMemory;
import gatun.bindings.lightgbm.lightgbm_h;
import gatun.bindings.xgboost.xgboost_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Runs of forests by the backend {@linkplain LoopComparison beside loops in C} that ask the same library about the same
 * rows. Needs {@code ./gatun install xgboost} and {@code ./gatun install lightgbm}.
 *
 * <p>Arguments: turns (default 200), and how many threads a run has (default 1).
 */
public final class TreesComparison {
    private static final int FEATURES = 100;
    private static final int TREES = 1000;
    private static final int DEPTH = 6;
    private static final long ALIGNMENT = 64;
    private static final String SETTINGS = "{\"type\":0,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
            + "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";

    private final Arena arena = Arena.ofShared();
    private final int threads;
    private final SymbolLookup library;

    @SuppressWarnings("restricted")
    private TreesComparison(int threads) {
        this.threads = threads;
        library = SymbolLookup.libraryLookup(BenchmarkFiles.compile("trees_loop.c", "native-headers"), arena);
    }

    /** Measures. */
    public static void main(String[] arguments) throws Throwable {
        int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        int threads = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
        System.out.printf(Locale.ROOT, "%-10s %6s %6s %s%n", "library", "trees", "rows", LoopComparison.HEADING);
        for (String engine : new String[] {"xgboost", "lightgbm"}) {
            for (int trees : new int[] {10, TREES}) {
                for (int rows : new int[] {1, 100}) {
                    System.out.println(new TreesComparison(threads).compare(engine, trees, rows, turns));
                }
            }
        }
    }

    private String compare(String engine, int trees, int rows, int turns) throws Throwable {
        Path folder = Files.createTempDirectory("gatun-trees");
        boolean xgboost = engine.equals("xgboost");
        SyntheticForest forest = new SyntheticForest(trees, FEATURES, DEPTH);
        Path file = xgboost ? forest.writeXGBoost(folder) : forest.writeLightGbm(folder);
        Tensor input = input(rows);
        MemorySegment output = arena.allocate(rows * 4L, ALIGNMENT);
        try (OpenInstance instance =
                new OpenInstance("fil", folder, Map.of("cpu_nthread", Integer.toString(threads)))) {
            LoopComparison times = LoopComparison.measure(
                    xgboost ? xgboostLoop(file, input) : lightGbmLoop(file, input),
                    instance,
                    new PreparedRequest(List.of(input), List.of("output__0"), output),
                    new LoopComparison.Turns(turns / 2, turns, Math.max(1, 20_000 / (trees * rows))));
            return String.format(Locale.ROOT, "%-10s %6d %6d %s", engine, trees, rows, times);
        } finally {
            Files.delete(file);
            Files.delete(folder);
        }
    }

    private Tensor input(int rows) {
        TensorSpec spec = new TensorSpec("input__0", Datatype.FP32, Shape.of(rows, FEATURES));
        Tensor input = new Tensor(spec, arena.allocate(spec.shape().byteSize(Datatype.FP32), ALIGNMENT));
        Random random = new Random(3);
        for (long i = 0; i < (long) rows * FEATURES; i++) {
            input.bytes().setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
        }
        return input;
    }

    @SuppressWarnings("restricted")
    private MethodHandle function(String name, MemoryLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }

    private LoopComparison.Loop xgboostLoop(Path file, Tensor input) throws IOException {
        byte[] content = Files.readAllBytes(file);
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check(xgboost_h.XGBoosterCreate(MemorySegment.NULL, 0, out));
        MemorySegment booster = out.get(ValueLayout.ADDRESS, 0);
        check(xgboost_h.XGBoosterLoadModelFromBuffer(booster, bytes, content.length));
        check(xgboost_h.XGBoosterSetParam(
                booster, arena.allocateFrom("nthread"), arena.allocateFrom(Integer.toString(threads))));
        MemorySegment rows = arena.allocateFrom("{\"data\":["
                + input.bytes().address() + ",true],\"shape\":["
                + input.spec().shape().dim(0) + "," + FEATURES + "],\"version\":3,\"typestr\":\"<f4\"}");
        MemorySegment settings = arena.allocateFrom(SETTINGS);
        MemorySegment target = arena.allocate(input.spec().shape().dim(0) * 4, ALIGNMENT);
        MethodHandle loop = function(
                "xgb_loop",
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG);
        MemorySegment predict = xgboost_h.XGBoosterPredictFromDense$address();
        return count ->
                check((int) loop.invokeExact(predict, booster, rows, settings, target, target.byteSize(), count));
    }

    private LoopComparison.Loop lightGbmLoop(Path file, Tensor input) throws IOException {
        MemorySegment text = arena.allocateFrom(Files.readString(file));
        MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check(lightgbm_h.LGBM_BoosterLoadModelFromString(text, number, out));
        MemorySegment booster = out.get(ValueLayout.ADDRESS, 0);
        MemorySegment parameters = arena.allocateFrom("num_threads=" + threads + " verbosity=-1");
        int rows = (int) input.spec().shape().dim(0);
        MemorySegment target = arena.allocate(rows * 8L, ALIGNMENT);
        if (rows == 1) {
            check(lightgbm_h.LGBM_BoosterPredictForMatSingleRowFastInit(
                    booster, 0, 0, -1, lightgbm_h.C_API_DTYPE_FLOAT32(), FEATURES, parameters, out));
            MemorySegment prepared =
                    NativeMemory.segment(out.get(ValueLayout.ADDRESS, 0).address(), 1);
            MethodHandle loop = function(
                    "lgb_row_loop",
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG);
            MemorySegment predict = lightgbm_h.LGBM_BoosterPredictForMatSingleRowFast$address();
            return count -> check((int) loop.invokeExact(predict, prepared, input.bytes(), target, count));
        }
        MethodHandle loop = function(
                "lgb_loop",
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG);
        MemorySegment predict = lightgbm_h.LGBM_BoosterPredictForMat$address();
        return count -> check(
                (int) loop.invokeExact(predict, booster, input.bytes(), rows, FEATURES, parameters, target, count));
    }

    private static void check(int returned) {
        if (returned != 0) {
            throw new IllegalStateException("the library failed");
        }
    }
}
