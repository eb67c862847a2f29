// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import gatun.runtime.configuration.ModelFiles.FileNames;
import gatun.spi.Backend;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Setting;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** Makes a model's configuration: reads it, has the engine complete it, fills in defaults, and checks it. */
public final class ModelConfiguration {
    /** How long a sequence may be idle where the configuration does not say it, in microseconds. */
    public static final long DEFAULT_IDLE_MICROS = 1_000_000;

    private ModelConfiguration() {}

    /**
     * The configuration that model {@code name} is served with.
     *
     * @param engines those that may run the model
     * @param directory the model's directory
     * @param versionDirectory the version whose files complete the configuration; empty when there is none
     * @param autoComplete whether files may complete it at all; otherwise the directory must hold a complete
     *     config.pbtxt
     * @param backends finds a started backend by name, or throws {@link GatunException} with the reason
     * @throws GatunException with the reason why the model cannot be served
     */
    public static ModelConfig of(
            EngineCatalog engines,
            String name,
            Path directory,
            Optional<Path> versionDirectory,
            boolean autoComplete,
            Function<String, Backend> backends) {
        return complete(
                engines,
                written(engines, name, directory, "", autoComplete),
                versionDirectory,
                autoComplete,
                backends,
                Optional.empty());
    }

    /** Loads what reads configurations, which the first of them does otherwise. For any thread. */
    public static void prepare() {
        ConfigurationFile.prepare();
    }

    /**
     * The configuration of model {@code name} as its files give it: neither completed nor filled with defaults.
     *
     * @param directory the model's directory
     * @param configName the name of the file in {@code configs}, without its ending, that counts instead of
     *     config.pbtxt where it exists; empty for none
     * @param autoComplete whether the configuration may be absent
     * @throws GatunException INVALID_ARGUMENT when it cannot be read, is not valid, or belongs to another model
     */
    public static ModelConfig written(
            EngineCatalog engines, String name, Path directory, String configName, boolean autoComplete) {
        return whole(engines, checked(name, read(directory, configName, autoComplete)), autoComplete);
    }

    /** The same of a model that is served under a name of the server's choice, whatever its files call it. */
    public static ModelConfig writtenAs(
            EngineCatalog engines, String name, Path directory, String configName, boolean autoComplete) {
        ModelConfig renamed = read(directory, configName, autoComplete).toBuilder()
                .setName(name)
                .build();
        return whole(engines, checked(name, renamed), autoComplete);
    }

    /**
     * The configuration that the operator has written for model {@code name}, with that name, whatever else is wrong
     * with it; nothing but the name where there is none. Throws INVALID_ARGUMENT when it cannot be read. {@code
     * configName} is as in {@link #written(EngineCatalog, String, Path, String, boolean)}.
     */
    public static ModelConfig ofOperator(String name, Path directory, String configName) {
        return read(directory, configName, true).toBuilder().setName(name).build();
    }

    /**
     * A written configuration with the backend, platform and file that a version's files tell, or an ensemble's with
     * its platform; empty where nothing tells a backend. Files complete it only if {@code autoComplete}.
     */
    public static Optional<ModelConfig> told(
            EngineCatalog engines, ModelConfig written, Path versionDirectory, boolean autoComplete) {
        if (EnsembleRules.apply(written)) {
            return Optional.of(
                    written.toBuilder().setPlatform(EnsembleRules.PLATFORM).build());
        }
        try {
            return Optional.of(new BackendChoice(engines)
                    .complete(written, autoComplete ? Optional.of(versionDirectory) : Optional.empty()));
        } catch (ConfigurationException untold) {
            return Optional.empty();
        }
    }

    /**
     * The configuration of a model of which there is nothing but itself; {@code fileName} is empty where engines know
     * it. Throws INVALID_ARGUMENT unless {@code autoComplete}: the model must complete it.
     */
    public static ModelConfig ofLooseModel(String name, Optional<String> fileName, boolean autoComplete) {
        if (!autoComplete) {
            throw GatunException.invalidArgument("a model that is served from its file alone has no "
                    + ConfigurationFile.NAME + ", and completing configurations is switched off by "
                    + Setting.DISABLE_AUTO_COMPLETE_CONFIG);
        }
        ModelConfig bare = ModelConfig.newBuilder().setName(name).build();
        return checked(name, fileName.map(file -> ofFile(bare, file)).orElse(bare));
    }

    /** The same configuration of this file and no other, whatever it says: its folder may hold what is no model's. */
    public static ModelConfig ofFile(ModelConfig config, String fileName) {
        return config.toBuilder()
                .setDefaultModelFilename(fileName)
                .clearCcModelFilenames()
                .build();
    }

    /** The configuration of a load request, as JSON. Throws INVALID_ARGUMENT when invalid, or another model's. */
    public static ModelConfig written(String name, String json) {
        return checked(name, ConfigurationJson.read(json));
    }

    private static ModelConfig checked(String name, ModelConfig config) {
        ModelConfig written = named(config, name);
        FileNames.check(written);
        SchedulingRules.check(written, Runnable::run);
        return written;
    }

    /** Checks a configuration that nothing completes, so that this does not wait for a version. */
    private static ModelConfig whole(EngineCatalog engines, ModelConfig written, boolean autoComplete) {
        if (!autoComplete) {
            TensorRules.check(
                    engines,
                    EnsembleRules.apply(written)
                            ? checkedEnsemble(written)
                            : new BackendChoice(engines).complete(written, Optional.empty()),
                    Runnable::run);
        }
        return written;
    }

    /**
     * Every rule that a configuration with its model's name breaks, where loading stops at the first: each part is
     * checked as if it were the only one.
     */
    public static List<ConfigurationException> brokenRules(EngineCatalog engines, ModelConfig written) {
        Map<String, ConfigurationException> broken = new LinkedHashMap<>();
        Consumer<Runnable> collecting = part -> {
            try {
                part.run();
            } catch (ConfigurationException e) {
                broken.putIfAbsent(e.getMessage(), e);
            }
        };
        SchedulingRules.check(written, collecting);
        TensorRules.check(engines, written, collecting);
        if (EnsembleRules.apply(written)) {
            collecting.accept(() -> EnsembleRules.check(written));
        }
        return List.copyOf(broken.values());
    }

    /**
     * The file that a model's configuration is read from, which need not exist.
     *
     * @param configName as in {@link #written(EngineCatalog, String, Path, String, boolean)}
     */
    public static Path file(Path directory, String configName) {
        Path named = directory.resolve(ConfigurationFile.FOLDER).resolve(configName + ".pbtxt");
        return !configName.isEmpty() && Files.exists(named) ? named : directory.resolve(ConfigurationFile.NAME);
    }

    /** Whether a configuration as it was written says itself which requests share runs, or that none can. */
    public static boolean schedules(ModelConfig written) {
        return written.getSchedulingChoiceCase() != ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET
                || written.getModelTransactionPolicy().getDecoupled()
                || written.getBatchInputCount() + written.getBatchOutputCount() > 0
                || written.getInputList().stream().anyMatch(ModelInput::getAllowRaggedBatch);
    }

    /**
     * What is wrong with a written configuration that does not tell its model's backend, where no files could; nothing
     * if it does. {@code advice} says what to do.
     */
    public static Optional<ConfigurationException> untoldBackend(ModelConfig written, String advice) {
        boolean isWritten = written.getInputCount() + written.getOutputCount() > 0;
        return isWritten && !EnsembleRules.apply(written) ? BackendChoice.untold(written, advice) : Optional.empty();
    }

    /** All of {@code config} but the model's instance groups. */
    public static ModelConfig withoutInstances(ModelConfig config) {
        return config.toBuilder().clearInstanceGroup().build();
    }

    /**
     * The configuration that a model is served with, made from the one that was written.
     *
     * @param engines those that may run the model
     * @param versionDirectory the version whose files complete the configuration; empty when there is none
     * @param autoComplete whether files may complete it at all
     * @param backends finds a started backend by name, or throws {@link GatunException} with the reason
     * @param batching how requests share runs unless the configuration {@linkplain #schedules says it}
     * @throws GatunException with the reason why the model cannot be served
     */
    public static ModelConfig complete(
            EngineCatalog engines,
            ModelConfig written,
            Optional<Path> versionDirectory,
            boolean autoComplete,
            Function<String, Backend> backends,
            Optional<BatchingRule> batching) {
        if (EnsembleRules.apply(written)) {
            return ensemble(engines, written);
        }
        ModelConfig chosen =
                new BackendChoice(engines).complete(written, autoComplete ? versionDirectory : Optional.empty());
        String engine = engines.engine(chosen);
        ModelConfig completed = chosen;
        if (autoComplete && versionDirectory.isPresent()) {
            completed = backends.apply(engine).complete(chosen, versionDirectory.get());
        }
        ModelConfig ruled = completed;
        if (batching.isPresent()) {
            ruled = BatchingCompletion.apply(written, completed, batching.get());
        }
        UsableDevices devices = UsableDevices.of(() -> backends.apply(engine));
        ModelConfig filled = Defaults.fill(ruled, devices, engines.instancesOnCpu(chosen));
        SchedulingRules.check(filled, Runnable::run);
        SchedulingRules.checkDevices(filled, devices);
        TensorRules.check(engines, filled, Runnable::run);
        return filled;
    }

    private static ModelConfig ensemble(EngineCatalog engines, ModelConfig written) {
        ModelConfig checked = checkedEnsemble(written);
        TensorRules.check(engines, checked, Runnable::run);
        return Defaults.fillEnsemble(checked);
    }

    private static ModelConfig checkedEnsemble(ModelConfig written) {
        boolean unnamed =
                written.getPlatform().isEmpty() && written.getBackend().isEmpty();
        ModelConfig named = unnamed
                ? written.toBuilder().setPlatform(EnsembleRules.PLATFORM).build()
                : written;
        EnsembleRules.check(named);
        return named;
    }

    private static ModelConfig read(Path directory, String configName, boolean autoComplete) {
        Path file = file(directory, configName);
        if (Files.exists(file)) {
            return ConfigurationFile.read(file);
        }
        ConfigurationFile.misplaced(directory).ifPresent(misplaced -> {
            throw GatunException.invalidArgument(misplaced);
        });
        if (!autoComplete) {
            throw GatunException.invalidArgument("there is no " + ConfigurationFile.NAME
                    + ", and completing configurations is switched off by "
                    + Setting.DISABLE_AUTO_COMPLETE_CONFIG);
        }
        return ModelConfig.getDefaultInstance();
    }

    private static ModelConfig named(ModelConfig config, String name) {
        if (config.getName().isEmpty()) {
            return config.toBuilder().setName(name).build();
        }
        if (!config.getName().equals(name)) {
            if (EnsembleRules.apply(config)) {
                // As in Triton, what else is wrong with an ensemble is said first.
                checkedEnsemble(config);
            }
            throw new ConfigurationException(
                    ConfigurationPath.of("name"),
                    "unexpected directory name '" + name + "' for model '" + config.getName()
                            + "', directory name must equal model name",
                    "rename the folder, or leave the line 'name' out");
        }
        return config;
    }

    /** Writes into a configuration what a {@link BatchingRule} means for it. */
    static final class BatchingCompletion {
        private BatchingCompletion() {}

        /** Applies the rule for shared runs; a batch size that is {@code written}, or no batch dimension, stays. */
        static ModelConfig apply(ModelConfig written, ModelConfig completed, BatchingRule rule) {
            ModelConfig.Builder ruled = completed.toBuilder();
            if (completed.getMaxBatchSize() > 0) {
                int size = written.getMaxBatchSize() > 0 ? written.getMaxBatchSize() : rule.maxBatchSize();
                ruled.setMaxBatchSize(size);
                ruled.getDynamicBatchingBuilder()
                        .clear()
                        .addPreferredBatchSize(Math.min(size, rule.maxRunSize()))
                        .setMaxQueueDelayMicroseconds(TimeUnit.NANOSECONDS.toMicros(rule.maxDelayNanos()));
            }
            if (completed.getInstanceGroupCount() == 0) {
                ruled.addInstanceGroupBuilder().setCount(rule.parallelRuns());
            }
            return ruled.build();
        }
    }
}
