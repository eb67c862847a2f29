package gatun.backend.onnxruntime;

import gatun.bindings.Posix;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.cuda.DeviceTransfers;
import gatun.protocol.inference.ModelConfig;
import gatun.runtime.spi.BackendInstance;
import gatun.runtime.spi.BackendModel;
import gatun.runtime.spi.Device;
import gatun.runtime.spi.InstanceSpec;
import java.nio.file.Path;

/** A model file and its configuration. Each instance opens a session of its own, with threads of its own. */
final class OnnxModel implements BackendModel {
    private final Engine engine;
    private final ModelConfig config;
    private final Path file;

    OnnxModel(Engine engine, ModelConfig config, Path file) {
        this.engine = engine;
        this.config = config;
        this.file = file;
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
        try (SessionOptions options = SessionOptions.of(engine, config, spec.instanceCount())) {
            CudaProvider.append(engine, options, config, transfers.stream());
            Session session = Session.open(engine, file, options);
            try {
                ModelDescription description = session.description();
                new ConfigCheck(config, description).run();
                return new OnnxGpuInstance(engine, session, description, transfers);
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
        try (SessionOptions options = SessionOptions.of(engine, config, spec.instanceCount())) {
            Session session = Session.open(engine, file, options);
            try {
                ModelDescription description = session.description();
                new ConfigCheck(config, description).run();
                return new OnnxInstance(engine, session, description);
            } catch (RuntimeException | Error e) {
                session.close();
                throw e;
            }
        }
    }

    @Override
    public void close() {
        // Sessions belong to the instances, which are closed before. What they freed lies scattered over the
        // allocator's arenas, one for
        // each of their threads, where it would stay.
        Posix.trimHeap();
    }
}
