// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.isolation.frames.Description;
import gatun.isolation.frames.Kind;
import gatun.memory.buffers.SharedFile;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Device;
import gatun.spi.EngineLostException;
import gatun.spi.InstanceSpec;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import gatun.wire.inference.ModelConfig;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.InheritedFiles;
import gatun.workers.RestartingWorker;
import gatun.workers.SharedMemoryChannels;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMemory;
import gatun.workers.WorkerProcess;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process of an engine, from its start to its end. Safe for any thread. */
final class EngineProcess implements RestartingWorker.Worker, WorkerProcess.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(EngineProcess.class);

    /** How long an engine has to end in order. */
    private static final Duration FINISH_LIMIT = Duration.ofSeconds(30);

    private final WorkerProcess process;
    private final ProcessFiles files;
    private volatile String name;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CompletableFuture<WorkerEnd> end = new CompletableFuture<>();
    private final List<RunLine> lines = new CopyOnWriteArrayList<>();

    /** Keeps questions apart: each waits for its answer. */
    private final ReentrantLock asking = new ReentrantLock();

    private volatile @Nullable Question<?> pending;
    private volatile Abilities abilities = new Abilities(Map.of());
    private volatile List<String> choices = List.of();
    private volatile Tuning tuning = Tuning.OFF;

    /** What an engine can do: for each kind of device what is missing, or empty where it runs on it. */
    record Abilities(Map<Device.Kind, String> advice) {
        private static Abilities read(FrameReader frame) {
            Map<Device.Kind, String> advice = new EnumMap<>(Device.Kind.class);
            for (Device.Kind kind : Device.Kind.values()) {
                boolean runs = frame.u8() != 0;
                String missing = frame.text();
                advice.put(kind, runs ? "" : missing.isEmpty() ? "not supported" : missing);
            }
            return new Abilities(advice);
        }

        boolean runsOn(Device.Kind kind) {
            return "".equals(advice.get(kind));
        }
    }

    /** A question that waits for its answer, which the thread of the pipe reads. */
    private record Question<T>(Function<FrameReader, T> reader, CompletableFuture<T> answer) {
        private void answered(FrameReader frame) {
            try {
                answer.complete(reader.apply(frame));
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
        }
    }

    /** The engine of a process. {@code tensorMemory} is the most bytes of inputs, and of outputs, at a time. */
    record Engine(String backend, Map<String, String> options, long tensorMemory, Optional<SharedFile> serverMemory) {}

    private EngineProcess(String name, WorkerProcess process, ProcessFiles files) {
        this.name = name;
        this.process = process;
        this.files = files;
    }

    /** Starts a process and its engine. Throws with the engine's reason when that fails; no process is left then. */
    static EngineProcess start(String name, Function<InheritedFiles, WorkerProcess.Command> command, Engine engine) {
        ProcessFiles files = ProcessFiles.create(name, engine.tensorMemory(), engine.serverMemory());
        EngineProcess started;
        try {
            started = new EngineProcess(name, WorkerProcess.start(command.apply(files.inherited())), files);
        } catch (RuntimeException e) {
            files.close();
            throw e;
        }
        started.process.listen(started, Tuning.OFF);
        try {
            started.startEngine(engine);
            return started;
        } catch (RuntimeException e) {
            started.process.kill("its engine did not start");
            throw e;
        }
    }

    private void startEngine(Engine engine) {
        WorkerMemory memory = files.memory();
        memory.onReturned(() -> Thread.ofVirtual().name("worker-release").start(this::tellReturned));
        abilities = ask(
                Kind.START,
                frame -> {
                    frame.text(engine.backend())
                            .u64(engine.tensorMemory())
                            .u8(engine.serverMemory().isPresent() ? 1 : 0)
                            .u32(engine.options().size());
                    engine.options()
                            .forEach((option, value) -> frame.text(option).text(value));
                },
                Abilities::read);
    }

    /** Gives the name of the instance that it works for from now on. */
    void servesAs(String instance) {
        name = instance;
    }

    Abilities abilities() {
        return abilities;
    }

    List<String> choices() {
        return choices;
    }

    /** Has the engine complete a configuration; throws as {@link gatun.spi.Backend#complete}. */
    ModelConfig complete(ModelConfig config, Path versionDirectory) {
        return ask(Kind.COMPLETE, frame -> writeModel(frame, config, versionDirectory), frame -> {
            try {
                return ModelConfig.parseFrom(frame.bytes());
            } catch (InvalidProtocolBufferException e) {
                throw new GatunException(ErrorCode.INTERNAL, "an engine sent a malformed configuration", e);
            }
        });
    }

    /** Has the engine load a version; throws as {@link gatun.spi.Backend#load}. */
    Description load(ModelConfig config, Path versionDirectory) {
        return ask(Kind.LOAD, frame -> writeModel(frame, config, versionDirectory), Description::read);
    }

    private static void writeModel(FrameWriter frame, ModelConfig config, Path versionDirectory) {
        frame.bytes(config.toByteArray()).text(versionDirectory.toString());
    }

    /** Opens an instance, which takes runs from this line. Throws as {@link gatun.spi.BackendModel#newInstance}. */
    RunLine open(InstanceSpec spec, long spinNanos) {
        if (lines.size() == SharedMemoryChannels.MOST) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the process of '" + name + "' has had " + SharedMemoryChannels.MOST
                            + " instances, which is the limit: load the model anew");
        }
        RunLine line = RunLine.create(lines.size(), files.mailboxes(), spinNanos, spec.tuning());
        tuning = spec.tuning();
        lines.add(line);
        if (end.isDone()) {
            line.close();
        }
        choices = ask(
                Kind.OPEN,
                frame -> {
                    frame.u32(line.number())
                            .text(spec.name())
                            .u32(spec.instanceCount())
                            .u32(spec.processCount())
                            .text(spec.device().kind().name())
                            .u32(spec.device().ordinal())
                            .u64(spinNanos);
                    for (Subject subject : Subject.values()) {
                        frame.u8(spec.tuning().learns(subject) ? 1 : 0);
                    }
                },
                frame -> List.copyOf(frame.list(1, frame::text)));
        return line;
    }

    WorkerMemory memory() {
        return files.memory();
    }

    /** Where an input lies in the memory of the server that the process reads; empty when it does not. */
    OptionalLong inServerMemory(MemorySegment input) {
        return files.server().map(file -> file.offsetOf(input)).orElse(OptionalLong.empty());
    }

    /** Tells the engine that the run of an instance is wanted no more. Does not wait for that. */
    void stop(RunLine line) {
        try {
            process.send(Kind.STOP, frame -> frame.u32(line.number()));
        } catch (GatunException e) {
            LOG.debug("{} had ended", name, e);
        }
    }

    private void tellReturned() {
        tellReturned(memory().drainReturned());
    }

    void tellReturned(List<Long> offsets) {
        if (offsets.isEmpty()) {
            return;
        }
        try {
            process.send(Kind.RELEASE, frame -> {
                frame.u32(offsets.size());
                offsets.forEach(frame::u64);
            });
        } catch (GatunException e) {
            LOG.debug("{} had ended", name, e);
        }
    }

    private <T> T ask(int kind, Consumer<FrameWriter> body, Function<FrameReader, T> reader) {
        asking.lock();
        try {
            Question<T> question = new Question<>(reader, new CompletableFuture<>());
            pending = question;
            if (end.isDone()) {
                throw death();
            }
            try {
                process.send(kind, body);
            } catch (GatunException e) {
                LOG.debug("{} had ended", name, e); // Waiting for the answer tells how.
            }
            return question.answer().get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GatunException reason) {
                throw reason;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            // Its answer, which may come yet, must not be taken for that to the next question.
            process.kill("the wait for its answer was interrupted");
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.CANCELLED, "the wait for '" + name + "' was interrupted", e);
        } finally {
            pending = null;
            asking.unlock();
        }
    }

    @Override
    public void frame(int kind, FrameReader frame) {
        if (kind == Kind.LEARNED) {
            learned(frame);
            return;
        }
        Question<?> question = pending;
        if (question == null) {
            throw new GatunException(ErrorCode.INTERNAL, "an engine answers what it was not asked");
        }
        switch (kind) {
            case Kind.ANSWER -> question.answered(frame);
            case Kind.FAILED -> question.answer().completeExceptionally(FrameValues.readFailure(frame));
            default -> throw new GatunException(ErrorCode.INTERNAL, "an engine sent a frame of kind " + kind);
        }
    }

    private void learned(FrameReader frame) {
        try {
            Subject subject = Subject.valueOf(frame.text());
            List<String> ways = frame.list(1, frame::text);
            int way = Objects.checkIndex(frame.u32(), ways.size());
            tuning.chose(subject, ways, way, Double.parseDouble(frame.text()));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new GatunException(ErrorCode.INTERNAL, "an engine told malformed news of what it learned", e);
        }
    }

    @Override
    public void ended(WorkerEnd how) {
        end.complete(EngineCommand.CrashReport.take(process.pid())
                .map(crash -> new WorkerEnd(WorkerEnd.Reason.SIGNAL, "crashed with " + crash))
                .orElse(how));
        Question<?> question = pending;
        if (question != null) {
            question.answer().completeExceptionally(death());
        }
        lines.forEach(RunLine::close);
        files.close();
    }

    /** Tells {@code onEnd} how the process ends. */
    @SuppressWarnings("FutureReturnValueIgnored") // what it hears is all that matters
    void onEnd(Consumer<WorkerEnd> onEnd) {
        end.thenAccept(onEnd);
    }

    /** The failure of those who need a process that has ended, or is about to. */
    GatunException death() {
        try {
            return new EngineLostException(
                    "the process of model instance '" + name + "' " + end.get().text());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new EngineLostException("the process of model instance '" + name + "' has ended", e);
        }
    }

    @Override
    public boolean isRunning() {
        return process.isRunning();
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void kill(String reason) {
        process.kill(reason);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            if (!end.isDone()) {
                Thread finishing = Thread.ofVirtual().name("finish-" + name).start(this::finish);
                finishing.join(FINISH_LIMIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.close();
            lines.forEach(RunLine::close);
        }
    }

    private void finish() {
        try {
            ask(Kind.FINISH, frame -> {}, frame -> true);
        } catch (GatunException e) {
            LOG.warn("The engine in the process of '{}' did not end in order: {}", name, e.getMessage());
        }
    }
}
