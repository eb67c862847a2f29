// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.Quantity;
import gatun.backend.trees.Scratch.Pointers;
import gatun.bindings.NativeMemory;
import gatun.bindings.lightgbm.lightgbm_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Owns a booster of LightGBM. Its predictions may run side by side. */
final class LightGbmForest implements Forest {
    private static final int ALL = -1;

    private final MemorySegment booster;
    private final String model;
    private final int features;
    private final int trees;
    private final int threads;
    private final Map<Quantity, Integer> columns = new ConcurrentHashMap<>();

    private LightGbmForest(MemorySegment booster, String model, int features, int trees, int threads) {
        this.booster = booster;
        this.model = model;
        this.features = features;
        this.trees = trees;
        this.threads = threads;
    }

    /**
     * Loads a file that {@link gatun.backend.trees.files.LightGbmFile} found in order, with a zero byte after it.
     * Throws INVALID_ARGUMENT when the library cannot read it.
     */
    static LightGbmForest load(String model, String fileName, MemorySegment text, int threads) {
        String what = "model '" + model + "': LightGBM cannot load its " + fileName;
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment number = scratch.allocate(ValueLayout.JAVA_INT);
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            check(lightgbm_h.LGBM_BoosterLoadModelFromString(text, number, out), ErrorCode.INVALID_ARGUMENT, what);
            MemorySegment booster = out.get(ValueLayout.ADDRESS, 0);
            try {
                check(lightgbm_h.LGBM_BoosterGetNumFeature(booster, number), ErrorCode.INVALID_ARGUMENT, what);
                int features = number.get(ValueLayout.JAVA_INT, 0);
                if (features < 1) {
                    throw GatunException.invalidArgument(what + ": it says that it has " + features + " features");
                }
                check(lightgbm_h.LGBM_BoosterNumberOfTotalModel(booster, number), ErrorCode.INVALID_ARGUMENT, what);
                int trees = number.get(ValueLayout.JAVA_INT, 0);
                return new LightGbmForest(booster, model, features, trees, threads);
            } catch (RuntimeException | Error e) {
                lightgbm_h.LGBM_BoosterFree(booster);
                throw e;
            }
        }
    }

    /** Throws an exception with the library's text if a call of this thread failed; {@code code} is its kind. */
    static void check(int returned, ErrorCode code, String what) {
        if (returned != 0) {
            String reason = NativeMemory.string(lightgbm_h.LGBM_GetLastError()).strip();
            throw new GatunException(code, what + ": " + reason);
        }
    }

    static int type(Quantity quantity) {
        return switch (quantity) {
            case VALUE -> lightgbm_h.C_API_PREDICT_NORMAL();
            case CONTRIBUTIONS -> lightgbm_h.C_API_PREDICT_CONTRIB();
            case LEAVES -> lightgbm_h.C_API_PREDICT_LEAF_INDEX();
        };
    }

    @Override
    public int features() {
        return features;
    }

    int trees() {
        return trees;
    }

    @Override
    public int columns(Quantity quantity) {
        Integer known = columns.get(quantity);
        if (known != null) {
            return known;
        }
        int asked = askColumns(quantity);
        columns.put(quantity, asked);
        if (quantity != Quantity.VALUE) {
            tryRow(quantity); // What the library has not for this model, it tells only then.
        }
        return asked;
    }

    private void tryRow(Quantity quantity) {
        try (Arena scratch = Arena.ofConfined();
                Predictor predictor = newPredictor(false)) {
            MemorySegment row = scratch.allocate(ValueLayout.JAVA_FLOAT, features);
            predictor.predict(quantity, row, Datatype.FP32, 1, MemorySegment.NULL);
        } catch (GatunException e) {
            throw GatunException.invalidArgument(
                    "model '" + model + "' has no " + quantity.output() + ": " + e.getMessage());
        }
    }

    private int askColumns(Quantity quantity) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.JAVA_LONG);
            check(
                    lightgbm_h.LGBM_BoosterCalcNumPredict(booster, 1, type(quantity), 0, ALL, out),
                    ErrorCode.INVALID_ARGUMENT,
                    "model '" + model + "' has no " + quantity.output());
            return Math.toIntExact(out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Override
    public Predictor newPredictor(boolean isOnly) {
        return new LightGbmPredictor(this, booster, threads, isOnly);
    }

    @Override
    public void close() {
        lightgbm_h.LGBM_BoosterFree(booster);
    }

    /** Asks a booster of LightGBM, which writes where it is told to. */
    static final class LightGbmPredictor implements Predictor {
        private static final int ROW_MAJOR = 1;
        private static final String FAILED = "LightGBM failed";

        /** The ways through so many trees take one thread less time than waking others; some 100 microseconds. */
        private static final long TREES_FOR_TEAM = 4096;

        private final LightGbmForest forest;
        private final MemorySegment booster;

        /** Whether single rows go the short way, which the library lets one caller take at a time. */
        private final boolean isOnly;

        /** Shared, since short runs come on the requests' threads. */
        private final Arena arena = Arena.ofShared();

        private final MemorySegment singleParameters;
        private final MemorySegment teamParameters;
        private final MemorySegment count;
        private final int columns;
        private final int trees;

        /** Memory for numbers that the library cannot write to their target. */
        private final Scratch scratch = new Scratch();

        /** What the library has prepared for single rows of either datatype; NULL before the first. */
        private MemorySegment singleFloats = MemorySegment.NULL;

        private MemorySegment singleDoubles = MemorySegment.NULL;

        LightGbmPredictor(LightGbmForest forest, MemorySegment booster, int threads, boolean isOnly) {
            this.forest = forest;
            this.booster = booster;
            this.isOnly = isOnly;
            columns = forest.columns(Quantity.VALUE);
            trees = forest.trees();
            singleParameters = parameters(1);
            teamParameters = parameters(threads);
            count = Pointers.to(arena.allocate(ValueLayout.JAVA_LONG));
        }

        private MemorySegment parameters(int threads) {
            return Pointers.to(arena.allocateFrom("num_threads=" + threads + " verbosity=-1"));
        }

        @Override
        public Datatype datatype() {
            return Datatype.FP64;
        }

        @Override
        public MemorySegment predict(
                Quantity quantity, MemorySegment rows, Datatype datatype, long rowCount, MemorySegment target) {
            int width = quantity == Quantity.VALUE ? columns : forest.columns(quantity);
            long byteSize = rowCount * width * Double.BYTES;
            MemorySegment numbers = target.byteSize() == byteSize ? target : scratch.of(byteSize);
            int returned = isOnly && rowCount == 1 && quantity == Quantity.VALUE
                    ? lightgbm_h.LGBM_BoosterPredictForMatSingleRowFast(
                            prepared(datatype), Pointers.to(rows), count, Pointers.to(numbers))
                    : predictAll(quantity, rows, datatype, rowCount, numbers);
            LightGbmForest.check(returned, ErrorCode.INTERNAL, FAILED);
            return numbers;
        }

        private int predictAll(
                Quantity quantity, MemorySegment rows, Datatype datatype, long rowCount, MemorySegment numbers) {
            boolean byTeam = rowCount > 1 && rowCount * trees > TREES_FOR_TEAM;
            return lightgbm_h.LGBM_BoosterPredictForMat(
                    booster,
                    Pointers.to(rows),
                    type(datatype),
                    Math.toIntExact(rowCount),
                    forest.features(),
                    ROW_MAJOR,
                    LightGbmForest.type(quantity),
                    0,
                    ALL,
                    byTeam ? teamParameters : singleParameters,
                    count,
                    Pointers.to(numbers));
        }

        private static int type(Datatype datatype) {
            return datatype == Datatype.FP32 ? lightgbm_h.C_API_DTYPE_FLOAT32() : lightgbm_h.C_API_DTYPE_FLOAT64();
        }

        private MemorySegment prepared(Datatype datatype) {
            boolean floats = datatype == Datatype.FP32;
            MemorySegment known = floats ? singleFloats : singleDoubles;
            if (known.address() != 0) {
                return known;
            }
            MemorySegment made = prepare(datatype);
            if (floats) {
                singleFloats = made;
            } else {
                singleDoubles = made;
            }
            return made;
        }

        private MemorySegment prepare(Datatype datatype) {
            try (Arena local = Arena.ofConfined()) {
                MemorySegment out = local.allocate(ValueLayout.ADDRESS);
                LightGbmForest.check(
                        lightgbm_h.LGBM_BoosterPredictForMatSingleRowFastInit(
                                booster,
                                LightGbmForest.type(Quantity.VALUE),
                                0,
                                ALL,
                                type(datatype),
                                forest.features(),
                                singleParameters,
                                out),
                        ErrorCode.INTERNAL,
                        FAILED);
                return out.get(ValueLayout.ADDRESS, 0);
            }
        }

        @Override
        public void close() {
            release(singleFloats);
            release(singleDoubles);
            scratch.close();
            arena.close();
        }

        private static void release(MemorySegment prepared) {
            if (prepared.address() != 0) {
                lightgbm_h.LGBM_FastConfigFree(prepared);
            }
        }
    }
}
