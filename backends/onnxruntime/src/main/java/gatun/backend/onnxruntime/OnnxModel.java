// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.HeapTrimmer;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A model file and its configuration. The instances on the processor share sessions, unless the model says how many
 * threads each is to have; each on a GPU opens one of its own.
 */
final class OnnxModel implements BackendModel {
    private final Engine engine;
    private final ModelConfig config;
    private final OnnxParameters parameters;
    private final Path file;
    private final Company company;

    /** Instances on the processor, as the last one was told; 0 before there is one. */
    private volatile int instanceCount;

    private final SessionPool sessions = new SessionPool(this::open);

    OnnxModel(Engine engine, ModelConfig config, Path file) {
        this.engine = engine;
        this.config = config;
        this.parameters = OnnxParameters.of(config);
        this.file = file;
        this.company = new Company(engine.runs());
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
        try (SessionOptions options = SessionOptions.of(engine, config, parameters, share(spec))) {
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

    private InstanceSessions sessionsFor(InstanceSpec spec) {
        instanceCount = spec.instanceCount();
        Optional<Integer> asked = parameters.intraOpThreads();
        if (asked.isPresent()) {
            // Whoever gives each instance its threads means threads of its own.
            return new InstanceSessions(
                    new SessionPool(this::open), company, engine.runCores(), asked.get(), asked.get());
        }
        return new InstanceSessions(sessions, company, engine.runCores(), Engine.CORES, share(spec));
    }

    /** The threads of an instance beside the others: what the model asks for, or its share of the cores. */
    private int share(InstanceSpec spec) {
        return parameters.intraOpThreads().orElseGet(() -> SessionThreads.share(Engine.CORES, spec.instanceCount()));
    }

    private Session open(int threads) {
        ModelFile model = new ModelFile(engine, config, parameters, file);
        return LoadingThread.load(() -> model.open(threads));
    }

    @Override
    public List<String> choices() {
        int instances = instanceCount;
        if (instances == 0) {
            return List.of(); // All are on GPUs.
        }
        Optional<Integer> asked = parameters.intraOpThreads();
        if (asked.isPresent()) {
            return List.of("threads of each instance: " + asked.get() + ", as intra_op_thread_count says");
        }
        int share = SessionThreads.share(Engine.CORES, instances);
        SessionThreads threads = SessionThreads.of(Engine.CORES, engine.version());
        String alone = "threads of a run: " + Engine.CORES
                + (share == Engine.CORES ? "" : " alone, " + share + " beside others")
                + ", of " + Engine.CORES + (Engine.CORES == 1 ? " core for " : " cores for ") + instances
                + (instances == 1 ? " instance" : " instances");
        return List.of(Engine.CORES == 1 ? alone : alone + "; " + threads.idleness());
    }

    @Override
    public void close() {
        // Sessions belong to the instances, which are closed before. The memory that they freed is scattered over the
        // allocator's arenas, one for each of their threads, where it would stay.
        HeapTrimmer.OF_PROCESS.ask();
    }
}
