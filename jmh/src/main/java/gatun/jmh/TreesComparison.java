// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.NativeMemory;
import gatun.bindings.lightgbm.lightgbm_h;
import gatun.bindings.xgboost.xgboost_h;
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
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;

/**
 * Runs of forests by the backend beside loops in C that ask the same library about the same rows, in turn in one
 * process, so that a machine that is busy with other things is so for both: the medians, and the median of the ratios of
 * neighbours. Needs {@code ./gatun install xgboost} and {@code ./gatun install lightgbm}.
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

    /** A loop in C: asks so many times. */
    private interface Loop {
        void run(long count) throws Throwable;
    }

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
        System.out.printf(
                Locale.ROOT,
                "%-10s %6s %6s %14s %14s %10s%n",
                "library",
                "trees",
                "rows",
                "C loop, us",
                "backend, us",
                "ratio");
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
        Request request = new Request(input(rows), arena.allocate(rows * 4L, ALIGNMENT));
        try (Backend backend = backend();
                BackendModel model = model(backend, folder);
                BackendInstance instance = model.newInstance(new InstanceSpec("benchmark", 1, Device.CPU))) {
            Loop loop = xgboost ? xgboostLoop(file, request) : lightGbmLoop(file, request);
            int runs = Math.max(1, 20_000 / (trees * rows));
            double[] c = new double[turns];
            double[] java = new double[turns];
            double[] ratios = new double[turns];
            for (int i = -turns / 2; i < turns; i++) {
                long begin = System.nanoTime();
                loop.run(runs);
                long middle = System.nanoTime();
                for (int run = 0; run < runs; run++) {
                    instance.execute(request);
                }
                long end = System.nanoTime();
                if (i >= 0) {
                    c[i] = (middle - begin) / 1e3 / runs;
                    java[i] = (end - middle) / 1e3 / runs;
                    ratios[i] = java[i] / c[i];
                }
            }
            return String.format(
                    Locale.ROOT,
                    "%-10s %6d %6d %14.2f %14.2f %10.3f",
                    engine,
                    trees,
                    rows,
                    Median.of(c),
                    Median.of(java),
                    Median.of(ratios));
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

    private static Backend backend() {
        Backend backend = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.name().equals("fil"))
                .findFirst()
                .orElseThrow();
        backend.start(Map.of());
        return backend;
    }

    private BackendModel model(Backend backend, Path folder) {
        ModelConfig config = ModelConfig.newBuilder()
                .setName("forest")
                .putParameters(
                        "cpu_nthread",
                        ModelParameter.newBuilder()
                                .setStringValue(Integer.toString(threads))
                                .build())
                .build();
        return backend.load(backend.complete(config, folder), folder);
    }

    @SuppressWarnings("restricted")
    private MethodHandle function(String name, MemoryLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }

    private Loop xgboostLoop(Path file, Request request) throws IOException {
        byte[] content = Files.readAllBytes(file);
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check(xgboost_h.XGBoosterCreate(MemorySegment.NULL, 0, out));
        MemorySegment booster = out.get(ValueLayout.ADDRESS, 0);
        check(xgboost_h.XGBoosterLoadModelFromBuffer(booster, bytes, content.length));
        check(xgboost_h.XGBoosterSetParam(
                booster, arena.allocateFrom("nthread"), arena.allocateFrom(Integer.toString(threads))));
        MemorySegment rows = arena.allocateFrom("{\"data\":["
                + request.input.bytes().address() + ",true],\"shape\":["
                + request.input.spec().shape().dim(0) + "," + FEATURES + "],\"version\":3,\"typestr\":\"<f4\"}");
        MemorySegment settings = arena.allocateFrom(SETTINGS);
        MemorySegment target = arena.allocate(request.output.byteSize(), ALIGNMENT);
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

    private Loop lightGbmLoop(Path file, Request request) throws IOException {
        MemorySegment text = arena.allocateFrom(Files.readString(file));
        MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check(lightgbm_h.LGBM_BoosterLoadModelFromString(text, number, out));
        MemorySegment booster = out.get(ValueLayout.ADDRESS, 0);
        MemorySegment parameters = arena.allocateFrom("num_threads=" + threads + " verbosity=-1");
        int rows = (int) request.input.spec().shape().dim(0);
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
            return count -> check((int) loop.invokeExact(predict, prepared, request.input.bytes(), target, count));
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
        return count -> check((int)
                loop.invokeExact(predict, booster, request.input.bytes(), rows, FEATURES, parameters, target, count));
    }

    private static void check(int returned) {
        if (returned != 0) {
            throw new IllegalStateException("the library failed");
        }
    }

    /** A request whose memory is there already. */
    private static final class Request implements Execution {
        private final Tensor input;
        private final MemorySegment output;

        Request(Tensor input, MemorySegment output) {
            this.input = input;
            this.output = output;
        }

        @Override
        public int inputCount() {
            return 1;
        }

        @Override
        public Tensor input(int index) {
            return input;
        }

        @Override
        public int outputCount() {
            return 1;
        }

        @Override
        public String outputName(int index) {
            return "output__0";
        }

        @Override
        public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
            return output;
        }

        @Override
        public void outputFromInput(int output, int input, Shape shape) {
            throw new IllegalStateException("no output of this model is an input");
        }

        @Override
        public void inferStarted() {}

        @Override
        public void inferEnded() {}
    }
}
