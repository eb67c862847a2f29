// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.bindings.lightgbm.lightgbm_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Asks a booster of LightGBM, which writes where it is told to. */
final class LightGbmPredictor implements Predictor {
    private static final int ALL = -1;
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

    /** Where numbers go that the library cannot write where they belong. */
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
