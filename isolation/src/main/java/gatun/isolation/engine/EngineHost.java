// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.isolation.frames.Description;
import gatun.isolation.frames.Kind;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.placement.ModelTuning;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelCall;
import gatun.spi.ModelMetrics;
import gatun.spi.ModelServer;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import gatun.spi.discovery.InstalledBackends;
import gatun.wire.inference.ModelConfig;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.SharedMemoryChannel;
import gatun.workers.WorkerChannel;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This process's engine and instances. One thread answers questions; instances do their runs. */
final class EngineHost {
    private static final Logger LOG = LoggerFactory.getLogger(EngineHost.class);
    private static final Device.Kind[] KINDS = Device.Kind.values();

    private final WorkerChannel channel;
    private final InstalledBackends backends;
    private final Map<Integer, HostedInstance> instances = new ConcurrentHashMap<>();
    private @Nullable Backend backend;
    private @Nullable EngineMemory memory;
    private @Nullable BackendModel model;
    private @Nullable Tuning tuning;

    EngineHost(WorkerChannel channel, InstalledBackends backends) {
        this.channel = channel;
        this.backends = backends;
    }

    void frame(int kind, FrameReader frame) {
        switch (kind) {
            case Kind.RELEASE -> {
                int count = frame.count(Long.BYTES);
                for (int i = 0; i < count; i++) {
                    memory().release(frame.u64());
                }
            }
            case Kind.STOP -> {
                HostedInstance instance = instances.get(frame.u32());
                if (instance != null) {
                    instance.stop();
                }
            }
            default -> answer(kind, frame);
        }
    }

    private void answer(int kind, FrameReader frame) {
        Consumer<FrameWriter> answer;
        try {
            answer = switch (kind) {
                case Kind.START -> start(frame);
                case Kind.COMPLETE -> complete(frame);
                case Kind.LOAD -> load(frame);
                case Kind.OPEN -> open(frame);
                case Kind.FINISH -> finish();
                default -> throw new GatunException(ErrorCode.INTERNAL, "the server sent a frame of kind " + kind);
            };
        } catch (GatunException e) {
            channel.send(Kind.FAILED, out -> FrameValues.writeFailure(out, e));
            return;
        } catch (RuntimeException | LinkageError e) {
            LOG.error("The engine failed unexpectedly", e);
            GatunException told =
                    new GatunException(ErrorCode.INTERNAL, "the engine's process failed unexpectedly: " + e, e);
            channel.send(Kind.FAILED, out -> FrameValues.writeFailure(out, told));
            return;
        }
        channel.send(Kind.ANSWER, answer);
    }

    private Consumer<FrameWriter> start(FrameReader frame) {
        String name = frame.text();
        long byteLimit = frame.u64();
        boolean hasServer = frame.u8() != 0;
        Map<String, String> options = new LinkedHashMap<>();
        int count = frame.count(1);
        for (int i = 0; i < count; i++) {
            options.put(frame.text(), frame.text());
        }
        Backend engine = backends.all().reversed().stream()
                .filter(backend -> backend.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new GatunException(
                        ErrorCode.UNAVAILABLE, "backend '" + name + "' is not part of the server's class path"));
        engine.connect(new NoServer(name));
        engine.start(options);
        backend = engine;
        memory = new EngineMemory(byteLimit, hasServer);
        return out -> {
            for (Device.Kind kind : KINDS) {
                out.u8(engine.runsOn(kind) ? 1 : 0).text(engine.advice(kind));
            }
        };
    }

    private Consumer<FrameWriter> complete(FrameReader frame) {
        ModelConfig completed = engine().complete(config(frame), Path.of(frame.text()));
        return out -> out.bytes(completed.toByteArray());
    }

    private Consumer<FrameWriter> load(FrameReader frame) {
        BackendModel loaded = engine().load(config(frame), Path.of(frame.text()));
        model = loaded;
        return Description.of(loaded)::write;
    }

    private static ModelConfig config(FrameReader frame) {
        try {
            return ModelConfig.parseFrom(frame.bytes());
        } catch (InvalidProtocolBufferException e) {
            throw new GatunException(ErrorCode.INTERNAL, "the server sent a malformed configuration", e);
        }
    }

    private Consumer<FrameWriter> open(FrameReader frame) {
        int number = frame.u32();
        String name = frame.text();
        int instanceCount = frame.u32();
        int processCount = frame.u32();
        Device device = new Device(Device.Kind.valueOf(frame.text()), frame.u32());
        SharedMemoryChannel mailbox = memory().mailboxes().mailbox(number, frame.u64(), Tuning.OFF);
        InstanceSpec spec = new InstanceSpec(name, instanceCount, processCount, device, tuning(frame));
        BackendModel loaded = Objects.requireNonNull(model);
        HostedInstance instance = HostedInstance.open(loaded, spec, mailbox, memory());
        instances.put(number, instance);
        return out -> {
            out.u32(loaded.choices().size());
            loaded.choices().forEach(out::text);
        };
    }

    private Tuning tuning(FrameReader frame) {
        Set<Subject> learned = EnumSet.noneOf(Subject.class);
        for (Subject subject : Subject.values()) {
            if (frame.u8() != 0) {
                learned.add(subject);
            }
        }
        if (tuning == null) {
            tuning = new ModelTuning(
                    learned,
                    choice -> channel.send(Kind.LEARNED, out -> {
                        out.text(choice.subject().name()).u32(choice.ways().size());
                        choice.ways().forEach(out::text);
                        out.u32(choice.way()).text(Double.toString(choice.gain()));
                    }));
        }
        return tuning;
    }

    private Consumer<FrameWriter> finish() {
        instances.values().forEach(HostedInstance::close);
        BackendModel loaded = model;
        if (loaded != null) {
            loaded.close();
        }
        Backend engine = backend;
        if (engine != null) {
            engine.close();
        }
        return out -> {};
    }

    private Backend engine() {
        return Objects.requireNonNull(backend);
    }

    private EngineMemory memory() {
        return Objects.requireNonNull(memory);
    }

    /** What an engine in a process of its own can ask of the server: nothing. */
    record NoServer(String backend) implements ModelServer {
        private GatunException unsupported(String what) {
            return new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "a model of backend '" + backend + "' in a process of its own cannot " + what
                            + "; run it in the server, without isolation");
        }

        @Override
        public void infer(ModelCall call, ModelCall.Responses responses) {
            throw unsupported("ask other models");
        }

        @Override
        public void load(String model, String configuration, Map<String, MemorySegment> files) {
            throw unsupported("load models");
        }

        @Override
        public void unload(String model, boolean dependents) {
            throw unsupported("unload models");
        }

        @Override
        public boolean isReady(String model, String version) {
            return false;
        }

        @Override
        public Path newFolder() {
            throw unsupported("have files of the server");
        }

        @Override
        public ModelMetrics metrics() {
            throw unsupported("make metrics");
        }
    }
}
