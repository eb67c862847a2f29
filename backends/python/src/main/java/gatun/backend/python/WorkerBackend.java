// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelServer;
import gatun.wire.inference.ModelConfig;
import gatun.workers.InheritedFiles;
import gatun.workers.ProcessLimits;
import gatun.workers.WorkerMetrics;
import gatun.workers.WorkerProcess;
import gatun.workers.WorkerWatch;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An engine whose instances are processes of Python, each with a file that has a {@code TritonPythonModel}. */
abstract sealed class WorkerBackend implements Backend permits PythonBackend, TorchScriptBackend {
    private final String name;
    private final String modules;

    private @Nullable ModelServer server;
    private @Nullable Settings settings;
    private @Nullable WorkerFiles files;
    private @Nullable Environments environments;
    private final WorkerWatch watch = new WorkerWatch();

    /** Not started yet. {@code modules} says what Python has to have, separated by commas. */
    WorkerBackend(String name, String modules) {
        this.name = name;
        this.modules = modules;
    }

    /** The file that serves a model. {@code workerFiles} is the folder of this engine's own files. */
    abstract ModelFile file(ModelConfig config, Path versionDirectory, Path workerFiles);

    private ModelFile file(ModelConfig config, Path versionDirectory) {
        return file(config, versionDirectory, Objects.requireNonNull(files).folder());
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final List<Option> options() {
        return Settings.OPTIONS;
    }

    @Override
    public final boolean runsOn(Device.Kind kind) {
        return true; // What a model does with the GPU that it is told is its own matter.
    }

    @Override
    public final void connect(ModelServer models) {
        server = models;
    }

    @Override
    public final void start(Map<String, String> options) {
        Settings chosen = Settings.of(name, options);
        WorkerFiles unpacked = WorkerFiles.unpack(server().newFolder());
        Interpreter standard =
                new Interpreter(chosen.executable(), Map.of(), unpacked.main(), new Interpreter.Need(name, modules));
        try {
            standard.check();
        } catch (GatunException e) {
            unpacked.close();
            throw e;
        }
        settings = chosen;
        files = unpacked;
        environments = new Environments(standard, unpacked.folder());
    }

    @Override
    public final boolean isolatesItself() {
        return true;
    }

    ModelServer server() {
        return Objects.requireNonNull(server);
    }

    Settings settings() {
        return Objects.requireNonNull(settings);
    }

    /** Metrics of an instance's processes; to be closed with the instance. */
    WorkerMetrics metrics(ModelConfig config, InstanceSpec spec, long memoryLimit) {
        return new WorkerMetrics(
                server().metrics(), Map.of("model", config.getName(), "instance", spec.name()), watch, memoryLimit);
    }

    @Override
    public final ModelConfig complete(ModelConfig config, Path versionDirectory) {
        ModelFile file = file(config, versionDirectory);
        if (!file.completes()) {
            return config;
        }
        Interpreter interpreter = Objects.requireNonNull(environments).of(config, file.folder());
        ProcessLimits limits = ProcessLimits.of(config);
        WorkerProcess.Command command = command(interpreter, config.getName(), limits, new InheritedFiles());
        String completed = PythonWorker.complete(command, server(), frame -> {
            file.write(frame.u8(Kind.COMPLETE), config.getName());
            frame.text(config.getName())
                    .text(Device.Kind.CPU.name())
                    .text("0")
                    .text(ConfigurationText.write(config))
                    .text("")
                    .u64(0)
                    .text("")
                    .u64(0);
        });
        return ConfigurationText.completed(config, completed);
    }

    WorkerProcess.Command command(
            Interpreter interpreter, String process, ProcessLimits limits, InheritedFiles inherited) {
        WorkerProcess.Command command = interpreter.command(process);
        if (limits.user().isEmpty()) {
            return command;
        }
        Objects.requireNonNull(files).openToOthers();
        return limits.asUser(command, inherited, "");
    }

    @Override
    public final BackendModel load(ModelConfig config, Path versionDirectory) {
        ModelFile file = file(config, versionDirectory);
        return new PythonModel(
                config, file, Objects.requireNonNull(environments).of(config, file.folder()), this);
    }

    @Override
    public final void close() {
        watch.close();
        WorkerFiles unpacked = files;
        if (unpacked != null) {
            unpacked.close();
        }
    }
}
