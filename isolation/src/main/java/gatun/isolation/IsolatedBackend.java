// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.frames.Description;
import gatun.memory.buffers.SharedFile;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.ModelServer;
import gatun.wire.inference.ModelConfig;
import gatun.workers.WorkerMetrics;
import gatun.workers.WorkerWatch;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** An engine in processes of its own, which may crash. Not loaded in the server. Thread-safe. */
final class IsolatedBackend implements Backend {
    private final String name;
    private final Optional<Path> backendDirectory;
    private final Optional<SharedFile> serverMemory;
    private final WorkerWatch watch;
    private @Nullable ModelServer server;
    private volatile Map<String, String> options = Map.of();
    private volatile EngineProcess.Abilities abilities = new EngineProcess.Abilities(Map.of());

    /** A process that has no model yet: the next model gets it. */
    private final AtomicReference<@Nullable Spare> spare = new AtomicReference<>();

    private record Spare(ProcessSettings settings, EngineProcess process) {}

    /** @param serverMemory the file that inputs lie in, if they do */
    IsolatedBackend(
            String name, Optional<Path> backendDirectory, Optional<SharedFile> serverMemory, WorkerWatch watch) {
        this.name = name;
        this.backendDirectory = backendDirectory;
        this.serverMemory = serverMemory;
        this.watch = watch;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isolatesItself() {
        return true;
    }

    @Override
    public void connect(ModelServer models) {
        server = models;
    }

    @Override
    public void start(Map<String, String> chosen) {
        options = Map.copyOf(chosen);
        ProcessSettings settings = ProcessSettings.of(ModelConfig.getDefaultInstance());
        EngineProcess first = newProcess("backend " + name, settings);
        abilities = first.abilities();
        keep(settings, first);
    }

    @Override
    public boolean runsOn(Device.Kind kind) {
        return abilities.runsOn(kind);
    }

    @Override
    public String advice(Device.Kind kind) {
        return abilities.advice().getOrDefault(kind, "");
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        ProcessSettings settings = ProcessSettings.of(config);
        EngineProcess process = process(config, settings);
        try {
            ModelConfig completed = process.complete(config, versionDirectory);
            keep(settings, process);
            return completed;
        } catch (GatunException e) {
            throw closing(process, config, e);
        }
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        ProcessSettings settings = ProcessSettings.of(config);
        EngineProcess process = process(config, settings);
        try {
            Description description = process.load(config, versionDirectory);
            return new IsolatedModel(this, config, versionDirectory, settings, description, process);
        } catch (GatunException e) {
            throw closing(process, config, e);
        }
    }

    private static GatunException closing(EngineProcess process, ModelConfig config, GatunException failure) {
        boolean died = !process.isRunning();
        process.close();
        return died
                ? new GatunException(
                        ErrorCode.INTERNAL,
                        "the engine's process for model '" + config.getName() + "' did not survive its files: "
                                + failure.getMessage(),
                        failure)
                : failure;
    }

    EngineProcess loaded(ModelConfig config, Path versionDirectory, ProcessSettings settings) {
        EngineProcess process = process(config, settings);
        try {
            Description ignored = process.load(config, versionDirectory);
            return process;
        } catch (GatunException e) {
            throw closing(process, config, e);
        }
    }

    WorkerMetrics metrics(ModelConfig config, String instance, ProcessSettings settings) {
        return new WorkerMetrics(
                Objects.requireNonNull(server).metrics(),
                Map.of("model", config.getName(), "instance", instance),
                watch,
                settings.limits().memory());
    }

    private EngineProcess process(ModelConfig config, ProcessSettings settings) {
        Spare found = spare.getAndSet(null);
        if (found != null
                && found.settings().equals(settings)
                && found.process().isRunning()) {
            return found.process();
        }
        if (found != null) {
            found.process().close();
        }
        return newProcess(config.getName(), settings);
    }

    private EngineProcess newProcess(String process, ProcessSettings settings) {
        return EngineProcess.start(
                process,
                inherited -> EngineCommand.of(process, settings, backendDirectory, inherited),
                new EngineProcess.Engine(name, options, settings.tensorMemory(), serverMemory));
    }

    private void keep(ProcessSettings settings, EngineProcess process) {
        Spare before = spare.getAndSet(new Spare(settings, process));
        if (before != null) {
            before.process().close();
        }
    }

    @Override
    public void close() {
        Spare last = spare.getAndSet(null);
        if (last != null) {
            last.process().close();
        }
    }
}
