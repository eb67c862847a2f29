// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelSettings.Control;
import gatun.runtime.ModelSettings.Loading;
import gatun.runtime.ModelSettings.Runs;
import gatun.runtime.ResourceAmount;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServedModelSettings.Backends;
import gatun.server.settings.ServedModelSettings.Sources;
import gatun.server.settings.ServedModelSettings.StoreSettings;
import gatun.spi.Tuning.Subject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The flags that choose models. Read once. */
final class ModelFlags extends OverlayFlags<ServedModelSettings> {
    private static final FlagType<ControlMode> CONTROL_MODE = FlagType.choice(
            "MODE",
            "a mode: none, poll or explicit",
            Map.of("none", ControlMode.NONE, "poll", ControlMode.POLL, "explicit", ControlMode.EXPLICIT));

    /** Whether there is one; in Triton's spelling. */
    private static final FlagType<Boolean> RATE_LIMIT =
            FlagType.choice("MODE", "a mode: off or execution_count", Map.of("off", false, "execution_count", true));

    private static final FlagType<Set<Subject>> LEARNED = new FlagType<>(
            "WHAT",
            Object.class,
            Optional.of("true"),
            ModelFlags::learned,
            ModelFlags::text,
            Stream.concat(
                            Stream.of("true", "false"),
                            Stream.of(Subject.values()).map(Subject::word))
                    .toList());

    private final Flag<List<ModelPlace>> paths = arguments(
            "PATH",
            ModelPlace.TYPE,
            "What to serve: a model repository, the folder of one model, a SavedModel's folder, a model's file such as"
                    + " resnet.onnx, which is then called resnet, or the URL of a repository; may be given several times.");
    private final Flag<List<ModelPlace>> repositories = several(
            "--model-repository --model-store",
            ModelPlace.TYPE,
            "A folder that holds one folder per model, or a URL: s3://, gs://, as://, or an archive at https:// or file:;"
                    + " may be given several times. Required unless a PATH or the flags"
                    + " of TensorFlow Serving name the models. Also called --model-store.");
    private final Flag<ControlMode> controlMode = flag(
            "--model-control-mode",
            CONTROL_MODE,
            standard.control().mode(),
            "none: load all models at start; poll: do so, and then follow the changes of the repository;"
                    + " explicit: load only those of --load-model, and then those that clients load and unload.");
    private final Flag<Duration> repositoryPoll = flag(
            "--repository-poll-secs",
            FlagType.INTERVAL,
            standard.control().pollInterval(),
            "How often to look for changes of the repository where the mode is poll.");
    private final Flag<List<String>> loadModels = several(
            "--load-model",
            FlagType.TEXT,
            "A model to load at start where the mode is explicit; may be given several times," + " * stands for all.");
    private final Flag<Boolean> exitOnError = yesOrNo(
            "--exit-on-error",
            standard.control().exitOnError(),
            "Whether the server ends when a model cannot be loaded at start.");
    private final Flag<Boolean> strictReadiness = yesOrNo(
            "--strict-readiness",
            standard.control().strictReadiness(),
            "Whether the server calls itself ready only when all models are.");
    private final Flag<Boolean> disableAutoComplete = present(
            "--disable-auto-complete-config",
            "Take each config.pbtxt as it is, and do not complete it from the model's file.");
    private final Flag<String> configName = flag(
            "--model-config-name",
            FlagType.TEXT,
            standard.loading().configName(),
            "Take configs/NAME.pbtxt of each model that has it instead of its config.pbtxt.");

    private final Flag<Boolean> namespacing = yesOrNo(
            "--model-namespacing",
            standard.loading().namespacing(),
            "Whether models of several repositories may have the same name: ensembles ask the one of their own"
                    + " repository, requests only names that are unique.");

    /** The older form of disableAutoComplete. */
    private final Flag<Optional<Boolean>> strictModelConfig = hidden("--strict-model-config", FlagType.TRUE_FALSE);

    private final Flag<Integer> loadThreads = flag(
            "--model-load-thread-count",
            FlagType.COUNT,
            standard.loading().threads(),
            "How many models are loaded at a time.");
    private final Flag<Integer> loadRetries = flag(
            "--model-load-retry-count --max_num_load_retries",
            FlagType.RETRIES,
            standard.loading().retries(),
            "How often a load that fails is tried again before it counts as failed. Also called"
                    + " --max_num_load_retries.");
    private final Flag<Duration> retryInterval = flag(
            "--load_retry_interval_micros",
            FlagType.MICROSECONDS,
            standard.loading().retryInterval(),
            "How long to wait before that.");
    private final Flag<Duration> loadTimeout = flag(
            "--model-load-timeout-secs",
            FlagType.SECONDS,
            standard.loading().timeout(),
            "How long a version of a model may take to load before the load is ended; 0 for as long as it likes. An"
                    + " unload of the model, and the stop of the server, end it in any case.");
    private final Flag<Optional<Long>> memoryLimit = optional(
            "--model-memory-limit",
            FlagType.BYTE_SIZE,
            "The most bytes that models may take together, counted by their files: each is loaded by the first request"
                    + " that needs it, and those that were not used for the longest time make room. All are loaded at"
                    + " start, and stay, unless this is given.");
    private final Flag<Boolean> warmUp = yesOrNo(
            "--enable_model_warmup",
            standard.warmUpIterations() > 0,
            "Whether models answer the requests in their assets.extra/tf_serving_warmup_requests before"
                    + " they serve.");
    private final Flag<Integer> warmUpIterations = flag(
            "--num_request_iterations_for_warmup",
            FlagType.ITERATIONS,
            0,
            "How often each of those requests is sent; 0 for once.");
    private final Flag<List<NamedOption>> backendOptions = several(
            "--backend-config",
            NamedOption.OF_BACKEND,
            "An option of a backend, such as onnxruntime,library=PATH; may be given several times.");
    private final Flag<Optional<String>> modelCache = optional(
            "--model-cache-dir",
            FlagType.TEXT.labelled("DIR"),
            "A folder that keeps models as ONNX Runtime has optimised them, so that the next start is quicker.");
    private final Flag<Optional<Path>> backendDirectory = optional(
            "--backend-directory",
            FlagType.PATH.labelled("DIR"),
            "A folder with more backends: each jar in it, and each folder with the jars in that.");
    private final Flag<List<String>> isolated = several(
            "--isolate",
            FlagType.TEXT.labelled("BACKEND[,BACKEND]"),
            "Backends whose models run in processes of their own, which may crash without harm to the server; for"
                    + " single models there is the parameter 'isolation' of a configuration.");
    private final Flag<Boolean> rateLimit = flag(
            "--rate-limit",
            RATE_LIMIT,
            standard.runs().rateLimit().isPresent(),
            "off: instances run at any time; execution_count: only while there are the resources that their"
                    + " configuration asks for, those first that have run least.");
    private final Flag<List<ResourceAmount>> resources = several(
            "--rate-limit-resource",
            FlagType.of("NAME:COUNT[:DEVICE]", new ResourceFlag()::convert),
            "How much there is of a resource; may be given several times (without any: the most that an"
                    + " instance asks for; with some, others are not there).");

    private final Flag<Set<Subject>> adaptive = flag(
            "--adaptive",
            LEARNED,
            standard.runs().learned(),
            "What the server learns of each model's runs, to do those that follow in the way that was fastest: true for"
                    + " everything, false for nothing, or some of batches (kept for callers who come back), spread (of a"
                    + " run over the cores), cores (handed over to who answers) and threads (that bring requests run"
                    + " them), separated by commas.");

    ModelFlags(ServedModelSettings standard) {
        super(standard);
    }

    /** Throws {@link FlagException} when the flags of {@code command} contradict each other. */
    ServedModelSettings settings(ModelListFlags list, TensorFlowFlags tensorFlow, StoreFlags stores) {
        List<Path> folders = Stream.concat(
                        standard.sources().repositories().stream(), ModelPlace.paths(repositories.value()).stream())
                .toList();
        StoreSettings stored = stores.settings(Stream.concat(
                        ModelPlace.locations(repositories.value()).stream(),
                        ModelPlace.locations(paths.value()).stream())
                .toList());
        ControlMode mode = controlMode.value();
        requireConsistency(folders.isEmpty() && stored.repositories().isEmpty(), list);
        boolean followsList = list.isGiven()
                && mode == ControlMode.NONE
                && folders.isEmpty()
                && stored.repositories().isEmpty();
        Optional<Duration> versionPoll = followsList ? list.versionPoll() : Optional.empty();
        // Our own flags come later, and win.
        List<NamedOption> options = new ArrayList<>(tensorFlow.options());
        modelCache.value().ifPresent(folder -> options.addAll(NamedOption.ofEnginesWith("model-cache-dir", folder)));
        options.addAll(backendOptions.value());
        return new ServedModelSettings(
                new Sources(folders, ModelPlace.paths(paths.value()), list.settings()),
                new Control(
                        versionPoll.isPresent() ? ControlMode.POLL : mode,
                        versionPoll.orElse(repositoryPoll.value()),
                        mode == ControlMode.EXPLICIT && !loadModels.value().contains("*")
                                ? Optional.of(loadModels.value())
                                : Optional.empty(),
                        exitOnError.value(),
                        strictReadiness.value(),
                        standard.control().logged()),
                new Loading(
                        configName.value(),
                        !disableAutoComplete.value()
                                && !strictModelConfig.value().orElse(false),
                        namespacing.value(),
                        tensorFlow.loadThreads().orElse(loadThreads.value()),
                        loadRetries.value(),
                        retryInterval.value(),
                        loadTimeout.value(),
                        memoryLimit
                                .value()
                                .map(OptionalLong::of)
                                .orElse(standard.loading().memoryByteSize())),
                new Runs(
                        rateLimit.value() ? Optional.of(resources.value()) : Optional.empty(),
                        adaptive.value(),
                        standard.runs().queueLimit(),
                        standard.runs().trustsClients()),
                new Backends(NamedOption.byOwner(options), backendDirectory.value(), isolatedBackends()),
                warmUp.value() ? Math.max(1, warmUpIterations.value()) : 0,
                stored);
    }

    private static Set<Subject> learned(String text) {
        return switch (text) {
            case "true" -> EnumSet.allOf(Subject.class);
            case "false" -> Set.of();
            default ->
                Stream.of(text.split(",", -1))
                        .map(word -> Stream.of(Subject.values())
                                .filter(subject -> subject.word().equals(word))
                                .findFirst()
                                .orElseThrow(() -> FlagType.wrong(
                                        text, "true, false, or some of batches, spread, cores and threads, by commas")))
                        .collect(Collectors.toSet());
        };
    }

    private static String text(Set<Subject> learned) {
        return learned.size() == Subject.values().length
                ? "true"
                : learned.isEmpty()
                        ? "false"
                        : learned.stream().sorted().map(Subject::word).collect(Collectors.joining(","));
    }

    private Set<String> isolatedBackends() {
        return isolated.value().stream()
                .flatMap(names -> Stream.of(names.split(",", -1)))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toSet());
    }

    private void requireConsistency(boolean noRepository, ModelListFlags list) {
        ControlMode mode = controlMode.value();
        if (noRepository && paths.value().isEmpty() && !list.isGiven()) {
            throw new FlagException("missing PATH, or --model-repository=DIR: there are no models to serve");
        }
        if (list.opensFolders() && !list.isGiven()) {
            throw new FlagException(
                    "--reload-base-path is for lists of models that clients replace; give --model_config_file or"
                            + " --model_base_path too, or leave it out.");
        }
        if (list.isGiven() && !paths.value().isEmpty()) {
            throw new FlagException("'" + paths.value().getFirst() + "' names models, and so do --model_config_file and"
                    + " --model_base_path, whose list clients may replace. Give one or the other.");
        }
        if (list.isGiven() && mode == ControlMode.EXPLICIT) {
            throw new FlagException(
                    "--model-control-mode=explicit loads models by name; --model_config_file and --model_base_path load"
                            + " what they list. Give one or the other.");
        }
        if (!loadModels.value().isEmpty() && mode != ControlMode.EXPLICIT) {
            throw new FlagException("--load-model needs --model-control-mode=explicit: in mode "
                    + mode.name().toLowerCase(Locale.ROOT) + " all models are loaded.");
        }
    }
}
