// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.ForestOutput;
import gatun.backend.trees.Forest.Quantity;
import gatun.backend.trees.Scratch.Pointers;
import gatun.backend.trees.XGBoostBooster.XGBoostCalls;
import gatun.bindings.HeapTrimmer;
import gatun.bindings.LibraryCache;
import gatun.bindings.NativeMemory;
import gatun.bindings.xgboost.xgboost_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.Cores;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.spi.Setting;
import gatun.spi.model.ConfigurationCompletion;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs forests of XGBoost and LightGBM, with the names and parameters of Triton's FIL backend. The libraries are not
 * part of the server: {@code ./gatun install xgboost} and {@code lightgbm} download them, or options name them.
 */
public final class TreesBackend implements Backend {
    static final String NAME = "fil";
    private static final String BATCH_SIZE = "default-max-batch-size";

    /** Trees are fast: what Triton's handbook suggests for its FIL backend. */
    private static final int USUAL_BATCH_SIZE = 32768;

    private static final List<Option> OPTIONS = List.of(
            new Option(Libraries.XGBOOST, "Another file of XGBoost than the one that was installed."),
            new Option(Libraries.LIGHTGBM, "Another file of LightGBM than the one that was installed."),
            new Option(BATCH_SIZE, "The largest batch of a model that does not say its inputs and outputs."));

    private static final List<String> NAMES = OPTIONS.stream().map(Option::name).toList();
    private static final Logger LOG = LoggerFactory.getLogger(TreesBackend.class);

    private Libraries libraries = new Libraries("", "", LibraryCache.ofUser());
    private int defaultMaxBatchSize = USUAL_BATCH_SIZE;

    /** Found by {@link java.util.ServiceLoader}; touches nothing native yet. */
    public TreesBackend() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(
                ModelFormat.of("xgboost.json", NAME, 90, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_ENDING),
                ModelFormat.of(
                        "xgboost.ubj",
                        NAME,
                        100,
                        Trait.FILE_BY_PARAMETER,
                        Trait.KNOWN_BY_ENDING,
                        Trait.ALONE_BY_ENDING),
                ModelFormat.of("xgboost.model", NAME, 110, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_ENDING),
                ModelFormat.of("model.txt", NAME, 120, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_NAME),
                ModelFormat.of("checkpoint.tl", NAME, 130, Trait.FILE_BY_PARAMETER));
    }

    @Override
    public List<Option> options() {
        return OPTIONS;
    }

    @Override
    public List<String> libraries() {
        return List.of("xgboost", "lightgbm");
    }

    /** Trees are data. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public Set<String> requestParameters() {
        return Settings.REQUESTED;
    }

    /** Opens no library yet: a server with XGBoost's models needs XGBoost's alone. */
    @Override
    public void start(Map<String, String> options) {
        options.forEach((key, value) -> {
            if (!NAMES.contains(key)) {
                LOG.warn("{} has no effect here; known: {}", Setting.backendOption(NAME, key, value), NAMES);
            }
        });
        libraries = new Libraries(
                options.getOrDefault(Libraries.XGBOOST, ""),
                options.getOrDefault(Libraries.LIGHTGBM, ""),
                LibraryCache.ofUser());
        if (options.containsKey(BATCH_SIZE)) {
            defaultMaxBatchSize = batchSize(options.get(BATCH_SIZE));
        }
    }

    private static int batchSize(String text) {
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no size.
        }
        throw GatunException.invalidArgument(
                Setting.backendOption(NAME, BATCH_SIZE, text) + ": expected a number >= 0");
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (!ConfigurationCompletion.isNeeded(config)) {
            return config;
        }
        Settings settings = Settings.of(config);
        try (Forest forest = open(config, settings, versionDirectory, 1)) {
            ForestTensors tensors = new ForestTensors(forest, settings, config);
            return new ConfigurationCompletion(config, tensors.inputs(), tensors.outputs(), defaultMaxBatchSize, false)
                    .complete();
        }
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        Settings settings = Settings.of(config);
        RunThreads threads = RunThreads.of(settings, config, Cores.physical());
        Forest forest = open(config, settings, versionDirectory, threads.count());
        try {
            ForestTensors tensors = new ForestTensors(forest, settings, config);
            List<ForestOutput> outputs = tensors.check();
            return new TreesModel(forest, outputs, tensors.entryPoint(outputs), threads);
        } catch (RuntimeException | Error e) {
            forest.close();
            throw e;
        }
    }

    private Forest open(ModelConfig config, Settings settings, Path versionDirectory, int threads) {
        ModelFile file = ModelFile.find(config, settings, versionDirectory);
        libraries.open(file.format());
        try (Arena scratch = Arena.ofShared()) {
            String model = config.getName();
            MemorySegment bytes = file.checked(file.read(scratch), model, scratch);
            return file.format() == ForestFormat.LIGHTGBM
                    ? LightGbmForest.load(model, file.name(), bytes, threads)
                    : XGBoostForest.load(model, file.name(), bytes, threads, settings.needsProbabilities());
        }
    }

    /** A loaded forest, which all instances ask. Owns it. */
    static final class TreesModel implements BackendModel {
        private final Forest forest;
        private final List<ForestOutput> outputs;
        private final EntryPoint entryPoint;
        private final RunThreads threads;

        TreesModel(Forest forest, List<ForestOutput> outputs, EntryPoint entryPoint, RunThreads threads) {
            this.forest = forest;
            this.outputs = List.copyOf(outputs);
            this.entryPoint = entryPoint;
            this.threads = threads;
        }

        @Override
        public List<EntryPoint> entryPoints() {
            return List.of(entryPoint);
        }

        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return new TreesInstance(forest, outputs, threads.count(), spec.instanceCount() == 1);
        }

        @Override
        public List<String> choices() {
            return List.of(threads.text());
        }

        @Override
        public void close() {
            forest.close();
            HeapTrimmer.OF_PROCESS.ask();
        }
    }

    /**
     * Owns a booster for runs by one thread and, where a run may have more, another for those: the number is a
     * booster's own. Predictions may run side by side, since those of trees change nothing in a booster.
     */
    static final class XGBoostForest implements Forest {
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

        /** Loads JSON or UBJSON with a byte after it. Throws INVALID_ARGUMENT when unreadable or without trees. */
        static XGBoostForest load(
                String model, String fileName, MemorySegment bytes, int threads, boolean probabilities) {
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

    /** Asks an XGBoost booster. Predictions read rows in place; SHAP values and leaves take a copy. */
    static final class XGBoostPredictor implements Predictor {
        /** The settings of a call; the numbers of its types are in the library's documentation of its C API. */
        private static final String SETTINGS =
                "{\"type\":%d,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
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

        /** Asks {@code single} about few rows, {@code team} about more, where several threads help. */
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
}
