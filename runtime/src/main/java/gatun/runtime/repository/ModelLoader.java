package gatun.runtime.repository;

import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.protocol.inference.ModelConfig;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.configuration.WarmUpSample;
import gatun.runtime.ensemble.Ensemble;
import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.execution.LoadedModel;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.spi.Backend;
import gatun.runtime.spi.BackendModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns a model's directory into running versions. Safe for any thread. */
final class ModelLoader {
    private static final Logger LOG = LoggerFactory.getLogger(ModelLoader.class);

    private final Backends backends;
    private final BufferPool pool;
    private final boolean autoComplete;
    private final int queueLimit;
    private final MemberModels members;

    ModelLoader(Backends backends, BufferPool pool, boolean autoComplete, int queueLimit, MemberModels members) {
        this.backends = backends;
        this.pool = pool;
        this.autoComplete = autoComplete;
        this.queueLimit = queueLimit;
        this.members = members;
    }

    /**
     * Loads the versions that the configuration chooses, or leaves an ensemble to {@code ensembles}, for when its members are there.
     * Never throws: what went wrong becomes the entry's reason.
     */
    void load(ModelDirectory directory, ModelEntry entry, PendingEnsembles ensembles) {
        long startedNanos = System.nanoTime();
        try {
            TreeSet<Long> present = directory.versions();
            Optional<Path> first = directory.firstVersion();
            ModelConfig config =
                    ModelConfiguration.of(directory.name(), directory.path(), first, autoComplete, backends::started);
            List<Long> chosen = VersionPolicy.choose(config.getVersionPolicy(), present);
            if (chosen.isEmpty()) {
                throw GatunException.invalidArgument(
                        "at least one version must be available under the version policy of" + " model '"
                                + directory.name() + "'");
            }
            warnOfIgnored(config);
            Map<String, List<String>> labels = LabelFiles.read(config, directory.path());
            if (config.hasEnsembleScheduling()) {
                ensembles.add(config, entry, () -> load(directory, config, chosen, labels, entry));
            } else {
                load(directory, config, chosen, labels, entry);
            }
        } catch (RuntimeException | Error e) {
            entry.versions(List.of(VersionEntry.failed(
                    directory.name(),
                    "",
                    "",
                    reason(directory.name(), e),
                    Duration.ofNanos(System.nanoTime() - startedNanos))));
        }
    }

    private void load(
            ModelDirectory directory,
            ModelConfig config,
            List<Long> chosen,
            Map<String, List<String>> labels,
            ModelEntry entry) {
        List<VersionEntry> versions = new ArrayList<>();
        for (long version : chosen) {
            versions.add(load(directory, config, version, labels, entry));
        }
        entry.versions(versions);
    }

    private VersionEntry load(
            ModelDirectory directory,
            ModelConfig config,
            long version,
            Map<String, List<String>> labels,
            ModelEntry entry) {
        long startedNanos = System.nanoTime();
        try {
            ServedModel loaded = config.hasEnsembleScheduling()
                    ? Ensemble.open(config, version, labels, members, pool, entry::readyVersions)
                    : start(directory, config, version, labels, entry);
            Duration loadTime = Duration.ofNanos(System.nanoTime() - startedNanos);
            loaded.loadTime(loadTime);
            return VersionEntry.ready(loaded, loadTime);
        } catch (RuntimeException | Error e) {
            return VersionEntry.failed(
                    directory.name(),
                    Long.toString(version),
                    config.getBackend(),
                    reason(directory.name(), e),
                    Duration.ofNanos(System.nanoTime() - startedNanos));
        }
    }

    private LoadedModel start(
            ModelDirectory directory,
            ModelConfig config,
            long version,
            Map<String, List<String>> labels,
            ModelEntry entry) {
        List<WarmUpSample> warmUpSamples = WarmUpSample.of(config, directory.path());
        List<StateTensor> states = StateTensor.of(config, directory.path());
        Backend backend = backends.started(config.getBackend());
        BackendModel model = backend.load(config, directory.version(version));
        return LoadedModel.start(
                config, version, model, labels, warmUpSamples, states, pool, queueLimit, entry::readyVersions);
    }

    private static String reason(String model, Throwable failure) {
        if (failure instanceof GatunException) {
            return String.valueOf(failure.getMessage());
        }
        // Not the operator's mistake but ours or the engine's: the stack is worth having.
        LOG.error("Loading model '{}' failed unexpectedly", model, failure);
        return "loading failed unexpectedly: " + failure;
    }

    private static void warnOfIgnored(ModelConfig config) {
        List<String> ignored = new ArrayList<>();
        if (config.getResponseCache().getEnable()) {
            ignored.add("response_cache");
        }
        if (config.getDynamicBatching().getPriorityLevels() != 0) {
            ignored.add("dynamic_batching.priority_levels");
        }
        if (!ignored.isEmpty()) {
            LOG.warn("Model '{}': {} has no effect in this version of the server", config.getName(), ignored);
        }
    }
}
