// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.RecentConcurrency;
import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner.ExecutionMode;
import gatun.backend.onnxruntime.ModelDescription.ScalarTensors;
import gatun.backend.onnxruntime.graph.ModelGraph;
import gatun.bindings.HeapTrimmer;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.Cores;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.spi.Tuning.Subject;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A model file. CPU instances share sessions unless threads are configured; GPU ones have their own. */
final class OnnxModel implements BackendModel {
    /** The weights of a session more take at least as much memory as the files: 64 MiB. */
    private static final long SMALL_BYTES = 64 << 20;

    private final Engine engine;
    private final ModelConfig config;
    private final OnnxParameters parameters;
    private final Path file;
    private final List<Path> operators;
    private final RecentConcurrency company;
    private final ModelGraph graph;

    /** Of the last instance on the processor; null before there is one. */
    private volatile @Nullable ThreadPlan plan;

    private final SessionPool sessions = new SessionPool(this::open);

    /** @param operators the libraries whose operators the model has */
    OnnxModel(Engine engine, ModelConfig config, Path file, List<Path> operators) {
        this.engine = engine;
        this.config = config;
        this.parameters = OnnxParameters.of(config);
        this.file = file;
        this.operators = List.copyOf(operators);
        this.company = new RecentConcurrency(engine.runs());
        this.graph = readGraph();
    }

    /** What the file tells of the graph that runs; nothing where something else than the engine's kernels runs it. */
    private ModelGraph readGraph() {
        if (config.getOptimization().getExecutionAccelerators().getCpuExecutionAcceleratorCount() > 0) {
            return ModelGraph.unread("nobody knows how execution accelerators read it");
        }
        if (!operators.isEmpty()) {
            return ModelGraph.unread("nobody knows how operators of other libraries read it");
        }
        return parameters.isOfOwnFormat()
                ? ModelGraph.unread("graphs in ONNX Runtime's own format are not read")
                : ModelGraph.read(file);
    }

    @Override
    public MemoryUse inputMemory(String input) {
        return graph.input(input);
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return graph.output(output);
    }

    @Override
    public Optional<String> dependenceOfRows() {
        return graph.dependenceOfRows();
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return spec.device().kind() == Device.Kind.GPU ? onGpu(spec) : onProcessor(spec);
    }

    private BackendInstance onGpu(InstanceSpec spec) {
        CudaDevice device = CudaDevices.find()
                .device(spec.device().ordinal())
                .orElseThrow(() -> new GatunException(
                        ErrorCode.UNAVAILABLE,
                        "there is no GPU " + spec.device().ordinal() + ": "
                                + CudaDevices.find().absence()));
        device.makeCurrent();
        DeviceTransfers transfers = new DeviceTransfers(device);
        int threads = parameters.intraOpThreads().orElseGet(() -> Cores.share(spec.instanceCount()));
        try (SessionOptions options = SessionOptions.of(engine, config, parameters, operators, threads)) {
            CudaProvider.append(engine, options, config, transfers.stream());
            Session session = Session.open(engine, file, options);
            try {
                ModelDescription description = session.description();
                new ConfigCheck(config, description).run();
                return new OnnxGpuInstance(
                        engine, session, parameters, description, new ScalarTensors(config, description), transfers);
            } catch (RuntimeException | Error e) {
                session.close();
                throw e;
            }
        } catch (RuntimeException | Error e) {
            transfers.release();
            throw e;
        }
    }

    private BackendInstance onProcessor(InstanceSpec spec) {
        InstanceSessions used = sessionsFor(spec);
        try {
            ModelDescription description = used.any().description();
            new ConfigCheck(config, description).run();
            return new OnnxInstance(engine, used, parameters, description, new ScalarTensors(config, description));
        } catch (RuntimeException | Error e) {
            used.close();
            throw e;
        }
    }

    /** Whether the requests of a batch may be run apart. */
    private boolean divides() {
        return config.hasDynamicBatching()
                && config.getBatchInputCount() == 0
                && config.getInputList().stream().noneMatch(ModelInput::getAllowRaggedBatch);
    }

    private InstanceSessions sessionsFor(InstanceSpec spec) {
        Optional<Integer> asked = parameters.intraOpThreads();
        // Whoever gives each instance its threads means threads of its own.
        SessionPool pool = asked.isPresent() ? new SessionPool(this::open) : sessions;
        int instances = spec.instanceCount();
        ThreadPlan chosen = asked.map(count -> new ThreadPlan(Cores.physical(), instances, 1, count, count, 1))
                .orElseGet(() -> ThreadPlan.of(
                        Cores.physical(),
                        instances,
                        spec.processCount(),
                        spec.tuning().learns(Subject.SPREAD),
                        isSmall(),
                        divides()));
        plan = chosen;
        // Other instances of the model share a session made for that; what other models leave, nobody can tell.
        ExecutionMode besideOthers = instances > 1 ? ExecutionMode.ON_A_SHARE : ExecutionMode.ON_ALL_CORES;
        return new InstanceSessions(pool, company, chosen, besideOthers, spec.tuning());
    }

    /** Whether the model's files are of a size at which a second session may be opened unasked. */
    private boolean isSmall() {
        try (Stream<Path> files = Files.list(Objects.requireNonNull(file.getParent()))) {
            return files.filter(Files::isRegularFile).mapToLong(this::byteSize).sum() <= SMALL_BYTES;
        } catch (IOException | UncheckedIOException e) {
            return false; // The engine will say what is wrong with them.
        }
    }

    private long byteSize(Path path) {
        try {
            return Files.size(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Session open(int threads) {
        ModelFile model = new ModelFile(engine, config, parameters, file, operators);
        return LoadingThread.load(() -> model.open(threads));
    }

    @Override
    public List<String> choices() {
        ThreadPlan chosen = plan;
        if (chosen == null) {
            return List.of(); // All are on GPUs.
        }
        return parameters
                .intraOpThreads()
                .map(asked -> List.of("threads of each instance: " + asked + ", as intra_op_thread_count says"))
                .orElseGet(() -> chosen.text(
                        SessionThreads.of(chosen.alone(), engine.version()).idleness()));
    }

    @Override
    public void close() {
        // Sessions belong to the instances, which are closed before. The memory that they freed is scattered over the
        // allocator's arenas, one for each of their threads, where it would stay.
        HeapTrimmer.OF_PROCESS.ask();
    }
}
