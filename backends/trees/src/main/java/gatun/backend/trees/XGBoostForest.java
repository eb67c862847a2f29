// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Owns a model of XGBoost: a booster for runs by one thread and, where a run may have more, another for those, since the
 * number is a booster's own. Predictions may run side by side: those of trees change nothing in a booster.
 */
final class XGBoostForest implements Forest {
    private final XGBoostBooster single;
    private final XGBoostBooster team;
    private final String model;
    private final int features;
    private final Map<Quantity, Integer> columns = new ConcurrentHashMap<>();

    private XGBoostForest(XGBoostBooster single, XGBoostBooster team, String model, int features) {
        this.single = single;
        this.team = team;
        this.model = model;
        this.features = features;
    }

    /**
     * Loads a model.
     *
     * @param model the model's name, for messages
     * @param bytes its file, in JSON or UBJSON, with a byte after it
     * @param threads how many threads each run may use
     * @param probabilities whether a model that chooses among classes answers with their probabilities
     * @throws GatunException INVALID_ARGUMENT when the library cannot read it, or it has no trees
     */
    static XGBoostForest load(String model, String fileName, MemorySegment bytes, int threads, boolean probabilities) {
        String what = "model '" + model + "': XGBoost cannot load its " + fileName;
        XGBoostBooster single = XGBoostBooster.load(bytes, 1, probabilities, what);
        XGBoostBooster team = single;
        try {
            if (threads > 1) {
                team = XGBoostBooster.load(bytes, threads, probabilities, what);
            }
            XGBoostForest forest = new XGBoostForest(single, team, model, single.features(what));
            forest.columns(Quantity.VALUE); // A model that cannot be asked is not loaded.
            return forest;
        } catch (RuntimeException | Error e) {
            close(single, team);
            throw e;
        }
    }

    private static void close(XGBoostBooster single, XGBoostBooster team) {
        single.close();
        if (team != single) {
            team.close();
        }
    }

    @Override
    public int features() {
        return features;
    }

    @Override
    public int columns(Quantity quantity) {
        return columns.computeIfAbsent(quantity, this::askColumns);
    }

    /** Only the library knows it: it is asked about a row without any value. */
    private int askColumns(Quantity quantity) {
        try (Arena scratch = Arena.ofConfined();
                Predictor predictor = newPredictor(false)) {
            MemorySegment row = scratch.allocate(ValueLayout.JAVA_FLOAT, features);
            for (int i = 0; i < features; i++) {
                row.setAtIndex(ValueLayout.JAVA_FLOAT, i, Float.NaN);
            }
            long byteSize = predictor
                    .predict(quantity, row, Datatype.FP32, 1, MemorySegment.NULL)
                    .byteSize();
            return Math.toIntExact(byteSize / Float.BYTES);
        } catch (GatunException e) {
            throw GatunException.invalidArgument(
                    "model '" + model + "' has no " + quantity.output() + ": " + e.getMessage());
        }
    }

    @Override
    public Predictor newPredictor(boolean isOnly) {
        return new XGBoostPredictor(single, team, features);
    }

    @Override
    public void close() {
        close(single, team);
    }
}
