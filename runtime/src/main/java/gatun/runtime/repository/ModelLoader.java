// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelStatus.LoadProgress;
import gatun.runtime.cache.ModelFingerprint;
import gatun.runtime.configuration.ConfigurationLimits;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.configuration.UnusedFields;
import gatun.runtime.configuration.WarmUpSample;
import gatun.runtime.ensemble.Ensemble;
import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.events.FlightRecording;
import gatun.runtime.events.ModelLoadEvent;
import gatun.runtime.execution.ExecutionResources;
import gatun.runtime.execution.LoadWatch;
import gatun.runtime.execution.LoadedModel;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionDefinition;
import gatun.runtime.execution.VersionDefinition.WarmUpPlan;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.runtime.residency.ModelMemory;
import gatun.runtime.residency.OnDemandModel;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns what a model is made of into running versions. Safe for any thread. */
final class ModelLoader {
    private static final Logger LOG = LoggerFactory.getLogger(ModelLoader.class);

    /** How long the instances of a version may take to end that no request has reached. */
    private static final Duration UNUSED_GRACE = Duration.ofSeconds(10);

    /** How long a version may take to close that was loaded after its load was ended. */
    private static final Duration DISCARDING = Duration.ofMinutes(10);

    private final ModelSettings settings;
    private final LoadResources resources;
    private final RateLimiter rateLimiter;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final LoadAttempts attempts;
    private final Backends backends;
    private final Function<String, MemberModels> members;
    private final Optional<ModelMemory> memory;

    /** Whether a model need not wait for its first request where {@link #memory} has a limit. */
    private volatile boolean atOnce;

    /** {@code members} has the models of a namespace; {@code memory} limits models loaded on demand. */
    ModelLoader(
            ModelSettings settings,
            LoadResources resources,
            Backends backends,
            Function<String, MemberModels> members,
            Optional<ModelMemory> memory) {
        this.settings = settings;
        this.resources = resources;
        rateLimiter = settings.runs().rateLimit().map(RateLimiter::of).orElseGet(RateLimiter::off);
        attempts = new LoadAttempts(settings.loading().timeout());
        this.backends = backends;
        this.members = members;
        this.memory = memory;
    }

    /** How loading one version went: its entry, and the failure when there is one. */
    record Result(VersionEntry entry, Optional<GatunException> failure) {
        /** @param required whether the server is not ready when this cannot answer later */
        private static Result ready(ServedModel model, Duration loadTime, boolean required) {
            VersionEntry entry = VersionEntry.ready(model, loadTime);
            return new Result(required ? entry : entry.optional(), Optional.empty());
        }

        private static Result failed(
                String model, String version, String engine, GatunException failure, Duration loadTime) {
            String reason = failure.getMessage();
            return new Result(VersionEntry.failed(model, version, engine, reason, loadTime), Optional.of(failure));
        }
    }

    /** Never throws: failures are in the results, one per version in order; without versions, one result says so. */
    List<Result> load(ModelSource source, Collection<Long> versions, ModelEntry entry) {
        long startedNanos = System.nanoTime();
        String name = source.name();
        if (source.versions().isEmpty() && source.directory().listed()) {
            return List.of(new Result(VersionEntry.awaited(source.directory()), Optional.empty()));
        }
        String engine = VersionEntry.engine(source.config());
        if (source.versions().isEmpty()) {
            GatunException failure = withoutVersions(source);
            FlightRecording.notLoaded(FlightRecording.load(name, ""), engine, failure.getMessage());
            return List.of(Result.failed(name, "", engine, failure, Duration.ZERO));
        }
        try {
            source.directory().warnOfOddNames();
            // As in Triton, the versions that are there are loaded.
            VersionPolicy.missing(source.config().getVersionPolicy(), source.present())
                    .ifPresent(missing -> LOG.warn("Model '{}': {}", name, missing));
            checkFields(source).forEach(remark -> LOG.warn("Model '{}': {}", source.model(), remark));
            return versions.stream()
                    .map(version -> load(source, version, entry))
                    .toList();
        } catch (RuntimeException | Error e) {
            GatunException failure = failure(name, e);
            Duration took = since(startedNanos);
            return versions.stream()
                    .map(version -> refused(name, Long.toString(version), engine, failure, took))
                    .toList();
        }
    }

    private static Result refused(String name, String version, String engine, GatunException failure, Duration took) {
        FlightRecording.notLoaded(FlightRecording.load(name, version), engine, failure.getMessage());
        return Result.failed(name, version, engine, failure, took);
    }

    private GatunException withoutVersions(ModelSource source) {
        String advice = "add a folder named by the version's number, such as 1, that holds the model's file";
        String found = RepositoryAdvice.insteadOfVersions(
                backends.catalog(), source.directory().path());
        Optional<String> missing = VersionPolicy.missing(source.config().getVersionPolicy(), source.present());
        ConfigurationException none = new ConfigurationException(
                ConfigurationPath.MODEL,
                "at least one version must be available under the version policy of model '" + source.name() + "'"
                        + missing.map(text -> ": " + text).orElse("") + found,
                advice);
        // As in Triton, which looks for the backend before it looks for versions.
        return found.isEmpty()
                ? ModelConfiguration.untoldBackend(source.config(), advice).orElse(none)
                : none;
    }

    /** Checks the fields before anything is made of them. Returns a line for each that has no effect. */
    private List<String> checkFields(ModelSource source) {
        ConfigurationLimits.check(source.config(), resources.limits());
        Path version = source.directory().version(source.versions().firstKey());
        Set<String> ofEngine = ModelConfiguration.told(
                        backends.catalog(),
                        source.config(),
                        version,
                        settings.loading().autoComplete())
                .map(told -> backends.configurationFields(backends.catalog().engine(told)))
                .orElse(Set.of());
        return UnusedFields.remarks(source.config(), ofEngine, backends.catalog());
    }

    /** The configuration of one version, completed from its own files: versions may differ in all but what is written. */
    private ModelConfig complete(ModelSource source, long version, BooleanSupplier wanted) {
        // Before an engine reads them, to complete the configuration.
        source.checksums().verify();
        Path files = source.directory().version(version);
        Optional<BatchingRule> rule = rule(source, files);
        ModelConfig config = retrying(
                source.name(),
                wanted,
                () -> ModelConfiguration.complete(
                        backends.catalog(),
                        source.config(),
                        Optional.of(files),
                        settings.loading().autoComplete(),
                        name -> backends.started(name, source.config()),
                        rule));
        ConfigurationLimits.check(config, resources.limits());
        resources.configurationRule().accept(config);
        return config;
    }

    /** How requests to a version share runs where its configuration, as it was written, does not say it. */
    private Optional<BatchingRule> rule(ModelSource source, Path versionDirectory) {
        return ModelConfiguration.schedules(source.config())
                ? Optional.empty()
                : resources.batching().of(versionDirectory);
    }

    /** Adjusts instances to {@code source}; failures are in the results, per version. Empty when more has changed. */
    Optional<List<Result>> adjustInstances(ModelSource source, Collection<VersionEntry> serving) {
        long startedNanos = System.nanoTime();
        ModelIdentifier name = source.model();
        Map<VersionEntry, ModelConfig> configs = new LinkedHashMap<>();
        try {
            checkFields(source);
            for (VersionEntry version : serving) {
                long number = Long.parseLong(version.version());
                configs.put(
                        version,
                        attempts.run(
                                name, number, startedNanos, wanted -> complete(source, number, wanted), config -> {}));
            }
        } catch (RuntimeException e) {
            return Optional.empty(); // Loading it fails as well, and tells it.
        }
        List<Result> results = new ArrayList<>();
        for (Map.Entry<VersionEntry, ModelConfig> next : configs.entrySet()) {
            VersionEntry version = next.getKey();
            try {
                boolean adjusted = attempts.run(
                        name,
                        Long.parseLong(version.version()),
                        startedNanos,
                        wanted -> retrying(
                                source.name(), wanted, () -> model(version).adjustInstances(next.getValue())),
                        late -> {});
                if (!adjusted) {
                    return Optional.empty();
                }
                results.add(new Result(version.because(""), Optional.empty()));
            } catch (RuntimeException | Error e) {
                GatunException failure = failure(source.name(), e);
                results.add(new Result(version.because(failure.getMessage()), Optional.of(failure)));
            }
        }
        return Optional.of(results);
    }

    private static ServedModel model(VersionEntry serving) {
        return serving.model().orElseThrow();
    }

    private Result load(ModelSource source, long version, ModelEntry entry) {
        long startedNanos = System.nanoTime();
        @Nullable ModelLoadEvent event = FlightRecording.load(source.name(), Long.toString(version));
        String engine = VersionEntry.engine(source.config());
        try {
            requireReadable(source.directory(), version);
            entry.loading(version).begin(LoadProgress.Phase.CONFIGURATION);
            ModelConfig config = attempts.run(
                    source.model(), version, startedNanos, wanted -> complete(source, version, wanted), late -> {});
            engine = VersionEntry.engine(config);
            Map<String, List<String>> labels =
                    LabelFiles.read(config, source.directory().path());
            ServedModel loaded = resources
                    .caching()
                    .cached()
                    .apply(
                            config.hasEnsembleScheduling()
                                    ? Ensemble.open(
                                            config,
                                            version,
                                            labels,
                                            members.apply(source.model().namespace()),
                                            resources.pool(),
                                            entry::readyVersions)
                                    : start(source, config, version, labels, entry, startedNanos));
            Duration loadTime = since(startedNanos);
            loaded.loadTime(loadTime);
            if (memory.isEmpty() || config.hasEnsembleScheduling()) {
                FlightRecording.loaded(event, engine);
            }
            return Result.ready(loaded, loadTime, memory.isEmpty());
        } catch (RuntimeException | Error e) {
            GatunException failure = failure(source.name(), e);
            FlightRecording.notLoaded(event, engine, failure.getMessage());
            return Result.failed(source.name(), Long.toString(version), engine, failure, since(startedNanos));
        }
    }

    private void requireReadable(ModelDirectory directory, long version) {
        directory.fault(backends.catalog(), version).ifPresent(fault -> {
            throw GatunException.invalidArgument(fault);
        });
    }

    /** A version on a backend: loaded now, or by its first request where memory is limited. */
    private ServedModel start(
            ModelSource source,
            ModelConfig config,
            long version,
            Map<String, List<String>> labels,
            ModelEntry entry,
            long startedNanos) {
        Opening opening = (counters, began) -> attempts.run(
                source.model(),
                version,
                began,
                wanted -> retrying(
                        config.getName(), wanted, () -> open(source, config, version, labels, counters, entry)),
                ModelLoader::discard);
        if (memory.isEmpty()) {
            return opening.open(new ModelCounters(), startedNanos);
        }
        OnDemandModel model = new OnDemandModel(
                memory.get(),
                config,
                version,
                source.directory().byteSize(version),
                told(counters -> opening.open(counters, System.nanoTime()), config, version),
                entry::readyVersions);
        if (atOnce) {
            model.load();
        }
        return model;
    }

    /** Loads a version on its backend, in a load that began at a reading of {@link System#nanoTime}. */
    @FunctionalInterface
    private interface Opening {
        LoadedModel open(ModelCounters counters, long startedNanos);
    }

    /** Closes a version that nobody wants any more and that no request has seen. */
    private static void discard(LoadedModel unwanted) {
        unwanted.drain();
        if (!unwanted.close(DISCARDING)) {
            LOG.warn("Version {} of model '{}' could not be closed in time", unwanted.versionText(), unwanted.name());
        }
    }

    private static Function<ModelCounters, LoadedModel> told(
            Function<ModelCounters, LoadedModel> opening, ModelConfig config, long version) {
        return counters -> {
            @Nullable ModelLoadEvent event = FlightRecording.load(config.getName(), Long.toString(version));
            String engine = VersionEntry.engine(config);
            try {
                LoadedModel loaded = opening.apply(counters);
                FlightRecording.loaded(event, engine);
                return loaded;
            } catch (RuntimeException | Error e) {
                FlightRecording.notLoaded(event, engine, String.valueOf(e.getMessage()));
                throw e;
            }
        };
    }

    void loadAtOnce() {
        atOnce = true;
    }

    private LoadedModel open(
            ModelSource source,
            ModelConfig config,
            long version,
            Map<String, List<String>> labels,
            ModelCounters counters,
            ModelEntry entry) {
        ModelDirectory directory = source.directory();
        Optional<BatchingRule> rule = rule(source, directory.version(version));
        WarmUpPlan warmUps = new WarmUpPlan(
                WarmUpSample.of(config, directory.path(), resources.limits()),
                resources.warmUps(),
                directory.version(version));
        List<StateTensor> states = StateTensor.of(config, directory.path());
        // Before the engine reads them: what is cached must not be taken for what other files, written since, would
        // give.
        // Nobody knows which files beside a loose model's belong to it.
        Optional<byte[]> fingerprint =
                resources.caching().fingerprints() && directory.loose().isEmpty()
                        ? Optional.of(ModelFingerprint.of(config, directory.version(version)))
                        : Optional.empty();
        long byteSize = directory.byteSizeIfReadable(version);
        LoadWatch progress = entry.loading(version);
        progress.begin(LoadProgress.Phase.OPENING);
        Backend backend = backends.started(backends.catalog().engine(config), source.config());
        BackendModel model = backend.load(config, directory.version(version));
        boolean batchesUnasked =
                config.hasDynamicBatching() && rule.isEmpty() && !ModelConfiguration.schedules(source.config());
        LoadedModel loaded = LoadedModel.start(
                new VersionDefinition(config, version, model, labels, warmUps, states, rule, batchesUnasked),
                new ExecutionResources(resources.pool(), settings.runs(), rateLimiter, progress),
                counters,
                entry::readyVersions);
        requireUnchanged(source, loaded);
        fingerprint.ifPresent(loaded::identify);
        loaded.memoryByteSize(byteSize);
        return loaded;
    }

    /** Ends a version whose files are no longer those whose checksums were compared. */
    private void requireUnchanged(ModelSource source, LoadedModel loaded) {
        try {
            source.checksums().verify();
        } catch (RuntimeException e) {
            loaded.close(UNUSED_GRACE);
            throw e;
        }
    }

    /** Has an engine retry failures while {@code wanted}: a file may be on its way, a device taken for a moment. */
    private <T> T retrying(String model, BooleanSupplier wanted, Supplier<T> attempt) {
        for (int left = settings.loading().retries(); ; left--) {
            try {
                return attempt.get();
            } catch (RuntimeException e) {
                if (left == 0 || closing.getCount() == 0 || !wanted.getAsBoolean()) {
                    throw e;
                }
                LOG.warn(
                        "Loading model '{}' failed and is tried again, {} times at most: {}",
                        model,
                        left,
                        e.getMessage());
                if (closesWithin(settings.loading().retryInterval())) {
                    throw e;
                }
            }
        }
    }

    /** Waits; true when nothing is to be tried again any more. */
    private boolean closesWithin(Duration interval) {
        try {
            return closing.await(interval.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Ends the loads under way, and has all that follow fail: the server stops. */
    void stopLoading() {
        closing.countDown();
        attempts.close();
    }

    /** The loads that are under way, to end those of a model. */
    LoadAttempts attempts() {
        return attempts;
    }

    private static Duration since(long startedNanos) {
        return Duration.ofNanos(System.nanoTime() - startedNanos);
    }

    private static GatunException failure(String model, Throwable failure) {
        if (failure instanceof GatunException told) {
            return told;
        }
        // Not the operator's mistake but ours or the engine's: the stack is worth having.
        LOG.error("Loading model '{}' failed unexpectedly", model, failure);
        return new GatunException(ErrorCode.INTERNAL, "loading failed unexpectedly: " + failure, failure);
    }
}
