// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.RunRequest.WorkerRun;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.EngineLostException;
import gatun.spi.ExecutionRequest;
import gatun.spi.ModelServer;
import gatun.spi.Tuning;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMemory;
import gatun.workers.WorkerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The process of one instance. Runs are given by one thread at a time; otherwise thread-safe. */
final class PythonWorker implements WorkerProcess.Listener, RestartingWorker.Worker {
    private static final Logger LOG = LoggerFactory.getLogger("gatun.python");
    private static final Level[] LEVELS = {Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG};

    /** How long a model has to end in order. */
    private static final Duration FINISH_LIMIT = Duration.ofSeconds(30);

    private final String name;
    private final WorkerMemory memory;
    private final ServerCalls calls;
    private final CompletableFuture<Optional<String>> started = new CompletableFuture<>();
    private final CompletableFuture<String> finished = new CompletableFuture<>();
    private final CompletableFuture<WorkerEnd> end = new CompletableFuture<>();
    private final AtomicLong lastRun = new AtomicLong();
    private final AtomicLong lastRequest = new AtomicLong();
    private final Map<Long, WorkerRun> runs = new ConcurrentHashMap<>();
    private final Map<Long, Target> targets = new ConcurrentHashMap<>();
    private final WorkerProcess process;

    private record Target(WorkerRun run, int index, Optional<ExecutionRequest> known) {}

    private PythonWorker(String name, WorkerProcess process, WorkerMemory memory, ModelServer server) {
        this.name = name;
        this.process = process;
        this.memory = memory;
        memory.onReturned(() -> Thread.ofVirtual().name("worker-release").start(this::tellReturnedIfRunning));
        calls = new ServerCalls(server, memory, process::send, this::known);
    }

    /** Starts a process, which owns {@code memory} from now on, and gives it its first frame. */
    private static PythonWorker open(
            WorkerProcess.Command command,
            WorkerMemory memory,
            ModelServer server,
            Consumer<FrameWriter> start,
            Tuning tuning) {
        WorkerProcess process;
        try {
            process = WorkerProcess.start(command);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        PythonWorker worker = new PythonWorker(command.name(), process, memory, server);
        process.listen(worker, tuning);
        try {
            process.send(Kind.START, start);
        } catch (GatunException e) {
            LOG.debug("{} ended before it was told what to do", command.name(), e); // Waiting for its start tells how.
        }
        return worker;
    }

    /**
     * Starts a process, which owns {@code memory} from now on, and returns when its model is initialized. {@code onEnd}
     * is told how it ended, once, perhaps before this returns. Throws when process or model do not start; then nobody
     * is told.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // what it hears is all that matters
    static PythonWorker start(
            WorkerProcess.Command command,
            WorkerMemory memory,
            ModelServer server,
            Consumer<FrameWriter> start,
            Consumer<WorkerEnd> onEnd,
            Tuning tuning) {
        PythonWorker worker = open(command, memory, server, start, tuning);
        try {
            worker.awaitStart();
            worker.end.thenAccept(onEnd);
            return worker;
        } catch (RuntimeException e) {
            worker.process.kill("its model did not start");
            throw e;
        }
    }

    /** Has a process complete a model's configuration. Returns the configuration as JSON. */
    static String complete(WorkerProcess.Command command, ModelServer server, Consumer<FrameWriter> start) {
        WorkerMemory unused = new WorkerMemory(command.name(), 1 << 20);
        PythonWorker worker = open(command, unused, server, start, Tuning.OFF);
        try {
            return worker.awaitStart().orElse("");
        } finally {
            worker.process.kill("it has completed the configuration");
        }
    }

    private Optional<String> awaitStart() {
        try {
            return started.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GatunException reason) {
                throw reason;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.UNAVAILABLE, "the start of '" + name + "' was interrupted", e);
        }
    }

    WorkerMemory memory() {
        return memory;
    }

    @Override
    public boolean isRunning() {
        return process.isRunning();
    }

    long pid() {
        return process.pid();
    }

    /** Has the calling thread read what the process says; see {@link WorkerProcess#readUntil}. */
    void readUntil(BooleanSupplier done) {
        process.readUntil(done);
    }

    /** Gives a run to the model. Throws {@link GatunException} when inputs find no room, or the process has ended. */
    void begin(WorkerRun run) {
        List<List<Tensor>> inputs = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        long number = lastRun.incrementAndGet();
        run.number(lastRequest.getAndAdd(run.requests().size()));
        try {
            for (RunRequest request : run.requests()) {
                List<Tensor> tensors = request.inputs();
                inputs.add(tensors);
                for (Tensor tensor : tensors) {
                    offsets.add(memory.place(tensor.bytes()));
                }
            }
            List<Long> returned = memory.drainReturnedMany();
            if (!returned.isEmpty()) {
                process.sendWithNext(Kind.RELEASE, frame -> write(frame, returned));
            }
            runs.put(number, run);
            Consumer<FrameWriter> body = frame -> write(frame, number, run, inputs, offsets);
            if (run.readsAnswer()) {
                process.ask(Kind.EXECUTE, Kind.EXECUTE_BOUND, body);
            } else {
                process.send(Kind.EXECUTE, body);
            }
        } catch (RuntimeException e) {
            runs.remove(number);
            forget(run);
            offsets.forEach(memory::takeBack);
            throw e;
        }
        if (end.isDone()) {
            // Those that were there have been told; this one may have come since.
            run.tell(new RunEvent.Failed(death(end.join().text())));
        }
    }

    private void write(FrameWriter frame, long number, WorkerRun run, List<List<Tensor>> inputs, List<Long> offsets) {
        frame.u64(number).u32(run.requests().size());
        int next = 0;
        for (int i = 0; i < run.requests().size(); i++) {
            RunRequest request = run.requests().get(i);
            long id = run.firstNumber() + i;
            Optional<ExecutionRequest> known = request.request();
            targets.put(id, new Target(run, i, known));
            frame.u64(id);
            writeRequest(frame, known);
            List<String> wanted = request.wantedOutputs();
            frame.u32(wanted.size());
            wanted.forEach(frame::text);
            frame.u32(inputs.get(i).size());
            for (Tensor tensor : inputs.get(i)) {
                Codec.writeTensor(
                        frame,
                        tensor.spec(),
                        offsets.get(next++),
                        tensor.bytes().byteSize());
            }
        }
    }

    private static void writeRequest(FrameWriter frame, Optional<ExecutionRequest> known) {
        frame.text(known.map(ExecutionRequest::id).orElse(""));
        FrameValues.writeSequence(frame, known.flatMap(ExecutionRequest::correlationId));
        boolean starts = known.map(ExecutionRequest::startsSequence).orElse(false);
        boolean ends = known.map(ExecutionRequest::endsSequence).orElse(false);
        frame.u32((starts ? 1 : 0) | (ends ? 2 : 0));
        frame.u64(known.map(ExecutionRequest::timeoutMicros).orElse(0L));
        frame.u64(known.map(ExecutionRequest::priority).orElse(0L));
        // As Triton gives it to models, whose tracing reads headers of a JSON object.
        frame.text(known.flatMap(ExecutionRequest::traceContext)
                .map(header -> "{\"traceparent\":\"" + header + "\"}")
                .orElse(""));
        FrameValues.writeParameters(
                frame, known.map(ExecutionRequest::parameters).orElse(Map.of()));
    }

    private void tellReturnedIfRunning() {
        try {
            tellReturned();
        } catch (GatunException e) {
            LOG.debug("{} has ended", name, e);
        }
    }

    private void tellReturned() {
        List<Long> offsets = memory.drainReturned();
        if (!offsets.isEmpty()) {
            process.send(Kind.RELEASE, frame -> write(frame, offsets));
        }
    }

    private static void write(FrameWriter frame, List<Long> offsets) {
        frame.u32(offsets.size());
        offsets.forEach(frame::u64);
    }

    private Optional<ExecutionRequest> known(long request) {
        Target target = targets.get(request);
        return target == null ? Optional.empty() : target.known();
    }

    @Override
    public void frame(int kind, FrameReader frame) {
        switch (kind) {
            case Kind.STARTED -> started(frame);
            case Kind.RAN -> ran(frame);
            case Kind.SEND -> sent(frame);
            case Kind.CALL -> calls.take(frame);
            case Kind.LOG -> log(frame);
            case Kind.FREE -> {
                int count = frame.count(Long.BYTES);
                for (int i = 0; i < count; i++) {
                    memory.takeBack(frame.u64());
                }
            }
            case Kind.FINISHED -> finished.complete(frame.text());
            default -> throw new GatunException(ErrorCode.INTERNAL, "a worker sent a frame of kind " + kind);
        }
    }

    private void started(FrameReader frame) {
        switch (frame.u8()) {
            case 0 -> {
                String message = frame.text();
                LOG.warn("{} did not start: {}", name, frame.text().strip());
                started.completeExceptionally(new GatunException(ErrorCode.INTERNAL, message));
            }
            case 1 -> started.complete(Optional.empty());
            default -> started.complete(Optional.of(frame.text()));
        }
    }

    private void ran(FrameReader frame) {
        WorkerRun run = runs.remove(frame.u64());
        if (run == null) {
            throw new GatunException(ErrorCode.INTERNAL, "a worker answers a run that it was not given");
        }
        if (frame.u8() == 0) {
            String message = frame.text();
            LOG.debug("{} failed: {}", name, frame.text());
            forget(run);
            run.tell(new RunEvent.Failed(new GatunException(ErrorCode.INTERNAL, message)));
            return;
        }
        List<RunEvent.Outcome> outcomes = frame.list(1, () -> outcome(frame));
        int asked = run.requests().size();
        if (outcomes.size() != asked) {
            throw new GatunException(
                    ErrorCode.INTERNAL, "a worker answers " + outcomes.size() + " requests of a run for " + asked);
        }
        if (outcomes.stream().noneMatch(RunEvent.Outcome.Later.class::isInstance)) {
            forget(run);
        }
        run.tell(new RunEvent.Returned(outcomes));
    }

    private RunEvent.Outcome outcome(FrameReader frame) {
        return switch (frame.u8()) {
            case 0 -> new RunEvent.Outcome.Answered(response(frame));
            case 1 -> new RunEvent.Outcome.Later();
            default -> new RunEvent.Outcome.Again();
        };
    }

    private WorkerResponse response(FrameReader frame) {
        WorkerResponse response = WorkerResponse.read(frame);
        response.tensors().forEach(tensor -> memory.requireResponse(tensor.offset(), tensor.byteSize()));
        return response;
    }

    private void forget(WorkerRun run) {
        for (int i = 0; i < run.requests().size(); i++) {
            targets.remove(run.firstNumber() + i);
        }
    }

    private void sent(FrameReader frame) {
        long request = frame.u64();
        boolean last = (frame.u32() & 1) != 0;
        Optional<WorkerResponse> response = frame.u8() == 0 ? Optional.empty() : Optional.of(response(frame));
        Target target = last ? targets.remove(request) : targets.get(request);
        if (target == null) {
            response.ifPresent(unwanted -> unwanted.drop(memory));
            return;
        }
        target.run().tell(new RunEvent.Sent(target.index(), last, response));
    }

    private void log(FrameReader frame) {
        int level = frame.u8();
        String message = frame.text();
        String file = frame.text();
        int line = frame.u32();
        process.output().log(LOG, LEVELS[Math.min(level, LEVELS.length - 1)], message + " (" + file + ":" + line + ")");
    }

    private GatunException death(String how) {
        return new EngineLostException("the process of model instance '" + name + "' " + how);
    }

    @Override
    public void ended(WorkerEnd how) {
        GatunException reason = death(how.text());
        started.completeExceptionally(reason);
        finished.complete("");
        end.complete(how);
        runs.values().forEach(run -> run.tell(new RunEvent.Failed(reason)));
        targets.values().forEach(target -> target.run().tell(new RunEvent.Failed(reason)));
        calls.close();
        memory.close();
    }

    @Override
    public void kill(String reason) {
        process.kill(reason);
    }

    /** Has the model finalize, and ends the process. */
    @Override
    public void close() {
        try {
            process.send(Kind.FINISH, frame -> {});
            process.awaitEnd(FINISH_LIMIT);
            String failure = finished.getNow("");
            if (!failure.isEmpty()) {
                LOG.error("{} failed to finalize: {}", name, failure);
            }
        } catch (GatunException e) {
            LOG.debug("{} had ended", name, e);
        } finally {
            process.close();
        }
    }
}
