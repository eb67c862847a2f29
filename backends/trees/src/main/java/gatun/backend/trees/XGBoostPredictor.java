// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.Quantity;
import gatun.backend.trees.Scratch.Pointers;
import gatun.backend.trees.XGBoostBooster.XGBoostCalls;
import gatun.bindings.NativeMemory;
import gatun.bindings.xgboost.xgboost_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Asks an XGBoost booster. Predictions read rows in place; SHAP values and leaves take a copy. */
final class XGBoostPredictor implements Predictor {
    /** The settings of a call; the numbers of its types are in the library's documentation of its C API. */
    private static final String SETTINGS = "{\"type\":%d,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
            + "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";

    private static final int VALUE = 0;
    private static final int CONTRIBUTIONS = 2;
    private static final int LEAVES = 6;

    private static final String FAILED = "XGBoost failed";

    /** The library shares the rows of a run out in blocks of so many. */
    private static final int BLOCK_ROWS = 64;

    private final XGBoostBooster single;
    private final XGBoostBooster team;

    /** Shared, since short runs come on the requests' threads. */
    private final Arena arena = Arena.ofShared();

    private final RowsText rows;
    private final MemorySegment value;
    private final MemorySegment contributions;
    private final MemorySegment leaves;
    private final MemorySegment matrixSettings;
    private final MemorySegment matrix;
    private final MemorySegment shape;
    private final MemorySegment rank;
    private final MemorySegment result;

    /**
     * Asks one of two boosters of the same model.
     *
     * @param single asked about few rows
     * @param team asked about more, where several threads help
     */
    XGBoostPredictor(XGBoostBooster single, XGBoostBooster team, int features) {
        this.single = single;
        this.team = team;
        rows = new RowsText(features, arena);
        value = settings(VALUE);
        contributions = settings(CONTRIBUTIONS);
        leaves = settings(LEAVES);
        // The copy is made by one thread: it is short beside the run.
        matrixSettings = arena.allocateFrom("{\"missing\":NaN,\"nthread\":1}");
        matrix = arena.allocate(ValueLayout.ADDRESS);
        shape = arena.allocate(ValueLayout.ADDRESS);
        rank = arena.allocate(ValueLayout.JAVA_LONG);
        result = arena.allocate(ValueLayout.ADDRESS);
    }

    private MemorySegment settings(int type) {
        return arena.allocateFrom(SETTINGS.replace("%d", Integer.toString(type)));
    }

    @Override
    public Datatype datatype() {
        return Datatype.FP32;
    }

    @Override
    public MemorySegment predict(
            Quantity quantity, MemorySegment input, Datatype datatype, long count, MemorySegment target) {
        MemorySegment text = rows.of(input, datatype, count);
        MemorySegment booster = (count > BLOCK_ROWS ? team : single).handle();
        switch (quantity) {
            case VALUE ->
                check(xgboost_h.XGBoosterPredictFromDense(
                        booster,
                        Pointers.to(text),
                        Pointers.to(value),
                        MemorySegment.NULL,
                        Pointers.to(shape),
                        Pointers.to(rank),
                        Pointers.to(result)));
            case CONTRIBUTIONS -> predictByMatrix(booster, text, contributions);
            case LEAVES -> predictByMatrix(booster, text, leaves);
        }
        long dims = rank.get(ValueLayout.JAVA_LONG, 0);
        MemorySegment sizes =
                NativeMemory.segment(shape.get(ValueLayout.ADDRESS, 0).address(), dims * Long.BYTES);
        long numbers = 1;
        for (int i = 0; i < dims; i++) {
            numbers = Math.multiplyExact(numbers, sizes.getAtIndex(ValueLayout.JAVA_LONG, i));
        }
        return NativeMemory.segment(result.get(ValueLayout.ADDRESS, 0).address(), numbers * Float.BYTES);
    }

    private void predictByMatrix(MemorySegment booster, MemorySegment text, MemorySegment settings) {
        check(xgboost_h.XGDMatrixCreateFromDense(text, matrixSettings, matrix));
        MemorySegment made = matrix.get(ValueLayout.ADDRESS, 0);
        try {
            check(xgboost_h.XGBoosterPredictFromDMatrix(booster, made, settings, shape, rank, result));
        } finally {
            xgboost_h.XGDMatrixFree(made);
        }
    }

    private static void check(int returned) {
        XGBoostCalls.check(returned, ErrorCode.INTERNAL, FAILED);
    }

    @Override
    public void close() {
        arena.close();
    }
}
