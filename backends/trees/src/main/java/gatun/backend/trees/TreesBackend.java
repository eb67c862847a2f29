// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.support.ConfigurationCompletion;
import gatun.bindings.LibraryCache;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Setting;
import gatun.memory.threads.Cores;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs forests of decision trees: XGBoost's models and LightGBM's, each by its own library, with the names and
 * parameters of Triton's FIL backend. The libraries are not part of the server: {@code ./gatun install xgboost} and
 * {@code ./gatun install lightgbm} put them into the user's cache, or the options {@code xgboost-library} and
 * {@code lightgbm-library} name them. One more option: {@code default-max-batch-size}.
 */
public final class TreesBackend implements Backend {
    /** The name in configurations. */
    static final String NAME = "fil";

    private static final String BATCH_SIZE = "default-max-batch-size";

    /** Trees are fast: what Triton's handbook suggests for its FIL backend. */
    private static final int USUAL_BATCH_SIZE = 32768;

    private static final List<String> OPTIONS = List.of(Libraries.XGBOOST, Libraries.LIGHTGBM, BATCH_SIZE);

    private static final Logger LOG = LoggerFactory.getLogger(TreesBackend.class);

    private Libraries libraries = new Libraries("", "", LibraryCache.ofUser());
    private int defaultMaxBatchSize = USUAL_BATCH_SIZE;

    /** Found by {@link java.util.ServiceLoader}; touches nothing native yet. */
    public TreesBackend() {}

    @Override
    public String name() {
        return NAME;
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
            if (!OPTIONS.contains(key)) {
                LOG.warn("{} has no effect here; known: {}", Setting.backendOption(NAME, key, value), OPTIONS);
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
            return file.format() == ModelFormat.LIGHTGBM
                    ? LightGbmForest.load(model, file.name(), bytes, threads)
                    : XGBoostForest.load(model, file.name(), bytes, threads, settings.needsProbabilities());
        }
    }
}
