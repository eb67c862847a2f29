// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.buffers.SharedFile;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.workers.InheritedFiles;
import gatun.workers.ProcessLimits;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMemory;
import gatun.workers.WorkerMetrics;
import gatun.workers.WorkerProcess;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A version of a Python model. */
final class PythonModel implements BackendModel {
    private static final MemoryUse OF_THE_PROCESS =
            MemoryUse.copiedByEngine("each instance is a process with memory of its own");

    private final ModelConfig config;
    private final ModelFile file;
    private final Interpreter interpreter;
    private final WorkerBackend backend;
    private final Duration executionLimit;
    private final ProcessLimits limits;
    private final Map<String, Integer> sharedRanks = new HashMap<>();
    private final List<PythonInstance> instances = new CopyOnWriteArrayList<>();

    PythonModel(ModelConfig config, ModelFile file, Interpreter interpreter, WorkerBackend backend) {
        this.config = config;
        this.file = file;
        this.interpreter = interpreter;
        this.backend = backend;
        executionLimit = ExecutionLimit.of(config);
        limits = ProcessLimits.of(config);
        if (config.getMaxBatchSize() > 0 && config.hasSequenceBatching()) {
            config.getOutputList()
                    .forEach(output -> sharedRanks.put(
                            output.getName(),
                            1 + (output.hasReshape() ? output.getReshape().getShapeCount() : output.getDimsCount())));
        }
    }

    /** How many dimensions outputs have that steps of sequences share; empty where no requests share tensors. */
    Map<String, Integer> sharedRanks() {
        return sharedRanks;
    }

    boolean isDecoupled() {
        return config.getModelTransactionPolicy().getDecoupled();
    }

    /** How long {@code execute} may take; zero for ever. */
    Duration executionLimit() {
        return executionLimit;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        String configuration = ConfigurationText.write(config);
        WorkerMetrics metrics = backend.metrics(config, spec, limits.memory());
        try {
            RestartingWorker<PythonWorker> process = RestartingWorker.start(
                    spec.name(), metrics::died, onEnd -> start(spec, configuration, onEnd, metrics));
            PythonInstance instance = new PythonInstance(this, process, metrics);
            instances.add(instance);
            return instance;
        } catch (RuntimeException e) {
            metrics.close();
            throw e;
        }
    }

    private PythonWorker start(
            InstanceSpec spec, String configuration, Consumer<WorkerEnd> onEnd, WorkerMetrics metrics) {
        WorkerMemory memory = new WorkerMemory(spec.name(), backend.settings().memoryByteSize());
        InheritedFiles inherited =
                new InheritedFiles().add(memory.requestFile()).add(memory.responseFile());
        WorkerProcess.Command command;
        try {
            command = limits.on(backend.command(interpreter, spec.name(), limits, inherited));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        boolean inherits = limits.user().isPresent();
        PythonWorker worker = PythonWorker.start(
                command,
                memory,
                backend.server(),
                frame -> {
                    file.write(frame.u8(Kind.SERVE), config.getName());
                    frame.text(spec.name())
                            .text(spec.device().kind().name())
                            .text(
                                    spec.device().kind() == Device.Kind.CPU
                                            ? "0"
                                            : Integer.toString(spec.device().ordinal()))
                            .text(configuration)
                            .text(place(memory.requestFile(), inherits, 0))
                            .u64(memory.requestFile().byteSize())
                            .text(place(memory.responseFile(), inherits, 1))
                            .u64(memory.responseFile().byteSize());
                },
                onEnd,
                spec.tuning());
        metrics.runs(worker.pid(), worker::kill);
        return worker;
    }

    /** Where a process finds a file: its path, or the number of the descriptor that it has inherited. */
    private static String place(SharedFile file, boolean inherits, int index) {
        return inherits
                ? Integer.toString(InheritedFiles.FIRST + index)
                : file.path().toString();
    }

    void closed(PythonInstance instance) {
        instances.remove(instance);
    }

    @Override
    public MemoryUse inputMemory(String input) {
        return OF_THE_PROCESS;
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return OF_THE_PROCESS;
    }

    @Override
    public boolean takesRequestsApart() {
        return true;
    }

    @Override
    public Optional<String> failure() {
        Optional<String> reason = Optional.empty();
        for (PythonInstance instance : instances) {
            reason = instance.failure();
            if (reason.isEmpty()) {
                return reason;
            }
        }
        return reason;
    }

    @Override
    public List<String> choices() {
        return List.of("each instance is a process of " + interpreter.description());
    }
}
