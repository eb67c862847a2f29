// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.ControlMode;
import gatun.runtime.ResourceAmount;
import gatun.server.settings.ModelSettings;
import gatun.server.settings.ModelSettings.Backends;
import gatun.server.settings.ModelSettings.Control;
import gatun.server.settings.ModelSettings.Loading;
import gatun.server.settings.ModelSettings.Sources;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags that name the models to serve. Filled by picocli, read once. */
final class ModelFlags {
    @Option(
            names = {"--model-repository", "--model-store"},
            paramLabel = "DIR",
            description =
                    "A folder that holds one folder per model; may be given several times. Required unless the flags"
                            + " of TensorFlow Serving name the models. Also called --model-store.")
    List<Path> repositories = new ArrayList<>();

    @Option(
            names = "--model-control-mode",
            paramLabel = "MODE",
            defaultValue = "none",
            converter = FlagValues.Control.class,
            description = "none: load all models at start; poll: do so, and then follow the changes of the repository;"
                    + " explicit: load only those of --load-model, and then those that clients load and unload.")
    ControlMode controlMode = ControlMode.NONE;

    @Option(
            names = "--repository-poll-secs",
            paramLabel = "SECONDS",
            defaultValue = "15",
            converter = FlagValues.Interval.class,
            description = "How often to look for changes of the repository where the mode is poll.")
    int repositoryPollSeconds;

    @Option(
            names = "--load-model",
            paramLabel = "NAME",
            description = "A model to load at start where the mode is explicit; may be given several times,"
                    + " * stands for all.")
    List<String> loadModels = new ArrayList<>();

    @Option(
            names = "--exit-on-error",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether the server ends when a model cannot be loaded at start.")
    boolean exitOnError;

    @Option(
            names = "--strict-readiness",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether the server calls itself ready only when all models are.")
    boolean strictReadiness;

    @Option(
            names = "--disable-auto-complete-config",
            description = "Take each config.pbtxt as it is, and do not complete it from the model's file.")
    boolean disableAutoComplete;

    @Option(
            names = "--model-config-name",
            paramLabel = "NAME",
            defaultValue = "",
            description = "Take configs/NAME.pbtxt of each model that has it instead of its config.pbtxt.")
    String configName = "";

    @Option(
            names = "--strict-model-config",
            hidden = true,
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "The older name of --disable-auto-complete-config.")
    boolean strictModelConfig;

    @Option(
            names = "--model-load-thread-count",
            paramLabel = "N",
            defaultValue = "4",
            converter = FlagValues.Count.class,
            description = "How many models are loaded at a time.")
    int loadThreads;

    @Option(
            names = {"--model-load-retry-count", "--max_num_load_retries"},
            paramLabel = "N",
            defaultValue = "0",
            converter = FlagValues.Retries.class,
            description = "How often a load that fails is tried again before it counts as failed. Also called"
                    + " --max_num_load_retries.")
    int loadRetries;

    @Option(
            names = "--load_retry_interval_micros",
            paramLabel = "MICROSECONDS",
            defaultValue = "0",
            converter = FlagValues.Microseconds.class,
            description = "How long to wait before that.")
    long retryIntervalMicros;

    @Option(
            names = "--enable_model_warmup",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether models answer the requests in their assets.extra/tf_serving_warmup_requests before"
                    + " they serve.")
    boolean warmUp;

    @Option(
            names = "--num_request_iterations_for_warmup",
            paramLabel = "N",
            defaultValue = "0",
            converter = FlagValues.Iterations.class,
            description = "How often each of those requests is sent; 0 for once.")
    int warmUpIterations;

    @Option(
            names = "--backend-config",
            paramLabel = "BACKEND,K=V",
            converter = FlagValues.Backend.class,
            description = "An option of a backend, such as onnxruntime,library=PATH; may be given several times.")
    List<BackendOption> backendOptions = new ArrayList<>();

    @Option(
            names = "--model-cache-dir",
            paramLabel = "DIR",
            description =
                    "A folder that keeps models as ONNX Runtime has optimised them, so that the next start is quicker.")
    Optional<String> modelCache = Optional.empty();

    @Option(
            names = "--backend-directory",
            paramLabel = "DIR",
            description = "A folder with more backends: each jar in it, and each folder with the jars in that.")
    @Nullable
    Path backendDirectory;

    @Option(
            names = "--rate-limit",
            paramLabel = "MODE",
            defaultValue = "off",
            converter = FlagValues.RateLimit.class,
            description =
                    "off: instances run at any time; execution_count: only while there are the resources that their"
                            + " configuration asks for, those first that have run least.")
    RateLimitMode rateLimit = RateLimitMode.OFF;

    @Option(
            names = "--rate-limit-resource",
            paramLabel = "NAME:COUNT[:DEVICE]",
            converter = ResourceFlag.class,
            description = "How much there is of a resource; may be given several times (default: the most that any"
                    + " instance asks for).")
    List<ResourceAmount> resources = new ArrayList<>();

    /** @throws ParameterException when the flags of {@code command} contradict each other */
    ModelSettings settings(
            CommandSpec command, ModelListFlags list, BatchingFlags batching, TensorFlowFlags tensorFlow) {
        if (repositories.isEmpty() && !list.isGiven()) {
            throw new ParameterException(command.commandLine(), "missing --model-repository=DIR");
        }
        if (list.isGiven() && controlMode == ControlMode.EXPLICIT) {
            throw new ParameterException(
                    command.commandLine(),
                    "--model-control-mode=explicit loads models by name; --model_config_file and --model_base_path load"
                            + " what they list. Give one or the other.");
        }
        boolean followsList = list.isGiven() && controlMode == ControlMode.NONE && repositories.isEmpty();
        Optional<Duration> versionPoll = followsList ? list.versionPoll() : Optional.empty();
        if (!loadModels.isEmpty() && controlMode != ControlMode.EXPLICIT) {
            throw new ParameterException(
                    command.commandLine(),
                    "--load-model needs --model-control-mode=explicit: in mode "
                            + controlMode.name().toLowerCase(Locale.ROOT) + " all models are loaded.");
        }
        Map<String, Map<String, String>> options = new HashMap<>();
        // Options from our own flags come later, and win.
        List<BackendOption> allOptions = new ArrayList<>(tensorFlow.options());
        modelCache.ifPresent(folder -> allOptions.add(new BackendOption("onnxruntime", "model-cache-dir", folder)));
        allOptions.addAll(backendOptions);
        for (BackendOption option : allOptions) {
            options.computeIfAbsent(option.backend(), b -> new HashMap<>()).put(option.name(), option.value());
        }
        return new ModelSettings(
                new Sources(repositories, list.settings(), configName, !disableAutoComplete && !strictModelConfig),
                new Control(
                        versionPoll.isPresent() ? ControlMode.POLL : controlMode,
                        versionPoll.orElse(Duration.ofSeconds(repositoryPollSeconds)),
                        loadModels,
                        exitOnError,
                        strictReadiness),
                new Loading(
                        tensorFlow.loadThreads().orElse(loadThreads),
                        loadRetries,
                        Duration.of(retryIntervalMicros, ChronoUnit.MICROS),
                        warmUp ? Math.max(1, warmUpIterations) : 0),
                new Backends(options, Optional.ofNullable(backendDirectory)),
                batching.settings(command),
                rateLimit == RateLimitMode.EXECUTION_COUNT ? Optional.of(resources) : Optional.empty());
    }
}
