// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.bindings.ProcessCore;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.YieldBeforeBlock;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that works for the server. Frames go through its standard input and output; what it prints as errors goes
 * to the log, within a limit. It ends with its input, so with the server, and all that it started with it. Thread-safe.
 */
public final class WorkerProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerProcess.class);

    /** How long it may take to end what a process has left, and to read its last lines. */
    private static final Duration TIDYING = Duration.ofSeconds(3);

    private static final int SIGNALLED = 128;
    private static final Map<Integer, String> SIGNALS = Map.of(
            4, "SIGILL", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", 9, "SIGKILL", 11, "SIGSEGV", 15, "SIGTERM", 24,
            "SIGXCPU");

    private final String name;
    private final Process process;
    private final OutputStream input;
    private final WorkerOutput said;
    private final Thread errors;
    private final long startedNanos = System.nanoTime();

    /** Ends once the processes that it left have ended. They inherit its pipes, which stay open. */
    private final CompletableFuture<Void> descendantsEnded;

    /** Guards the writer and the order of frames. */
    private final ReentrantLock sending = new ReentrantLock();

    private final FrameWriter writer = new FrameWriter();

    /** Frames that go out with the next one. Guarded by sending. */
    private final ByteArrayOutputStream before = new ByteArrayOutputStream();

    private volatile Optional<String> killedBecause = Optional.empty();
    private volatile boolean ended;

    /** Completed when all is over: what it has started has ended too, and its last line is in the log. */
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    /** Set by {@link #listen}. */
    private volatile @Nullable ReaderElection turn;

    private volatile @Nullable PipeHandOver handOver;

    /** Takes a process's frames in order, on its thread or one in {@link #readUntil}. Must not block long. */
    public interface Listener {
        /** Takes a frame. Throws {@link GatunException} when it makes no sense; the worker is killed then. */
        void frame(int kind, FrameReader frame);

        /** Takes note how the process has ended; the last call. */
        void ended(WorkerEnd how);
    }

    /** A command for a worker of that name; {@link WorkerProcess#start} sets its input, output and errors. */
    public record Command(String name, ProcessBuilder builder) {}

    private WorkerProcess(String name, Process process, ProcessMark mark) {
        this.name = name;
        this.process = process;
        descendantsEnded = process.onExit()
                .thenRunAsync(() -> mark.killDescendants(process.pid()), task -> Thread.ofPlatform()
                        .daemon()
                        .name("worker-descendants-" + name)
                        .start(task))
                .exceptionally(e -> {
                    LOG.error("What process {} of '{}' has left could not be ended", process.pid(), name, e);
                    return null;
                });
        input = process.getOutputStream();
        said = new WorkerOutput(name);
        errors = Thread.ofPlatform()
                .daemon()
                .name("worker-log-" + name)
                .unstarted(() -> said.read(process.getErrorStream()));
    }

    /** Starts a process, heard from {@link #listen} on. Throws {@link GatunException} UNAVAILABLE when it cannot. */
    public static WorkerProcess start(Command command) {
        OrphanKeeper.watchThisServer();
        ProcessMark mark = new ProcessMark();
        command.builder().environment().putAll(mark.environment());
        Process started;
        try {
            started = command.builder()
                    .redirectInput(ProcessBuilder.Redirect.PIPE)
                    .redirectOutput(ProcessBuilder.Redirect.PIPE)
                    .redirectError(ProcessBuilder.Redirect.PIPE)
                    .start();
        } catch (IOException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the process of '" + command.name() + "' could not be started: " + e.getMessage(),
                    e);
        }
        WorkerEvents.started(command.name(), started.pid());
        return new WorkerProcess(command.name(), started, mark);
    }

    /** Has {@code listener} hear the process. Called once. {@code tuning} learns how answers are waited for best. */
    public void listen(Listener listener, Tuning tuning) {
        errors.start();
        FrameInput frames = new FrameInput(name, process.getInputStream());
        PipeHandOver handing = new PipeHandOver(process.pid(), frames, tuning);
        ReaderElection reading = new ReaderElection(() -> {
            handing.await();
            return readFrame(frames, listener);
        });
        handOver = handing;
        turn = reading;
        Thread.ofPlatform().daemon().name("worker-" + name).start(() -> readFrames(reading, frames, listener));
    }

    /**
     * Returns when {@code done}, which a frame's handling makes true, or when the process says nothing any more. The
     * calling thread reads frames itself meanwhile, unless another does, so that nobody has to wake it: for the wait for
     * an answer that is due soon. Once {@link #listen} was called. Cannot be interrupted.
     */
    public void readUntil(BooleanSupplier done) {
        PipeHandOver handing = Objects.requireNonNull(handOver, "nobody listens");
        Objects.requireNonNull(turn, "nobody listens").readUntil(done);
        handing.noteAnswer();
    }

    /** Takes what the process says for the log in other ways than by printing it. */
    public WorkerOutput output() {
        return said;
    }

    /** The number of the process in the system. */
    public long pid() {
        return process.pid();
    }

    /** Sends a frame; waits while the worker reads slowly. Throws UNAVAILABLE when the process has ended. */
    public void send(int kind, Consumer<FrameWriter> body) {
        sending.lock();
        try {
            writer.begin(kind);
            body.accept(writer);
            ByteBuffer frame = writer.end();
            if (before.size() == 0) {
                input.write(frame.array(), frame.arrayOffset(), frame.limit());
            } else {
                before.write(frame.array(), frame.arrayOffset(), frame.limit());
                before.writeTo(input);
                before.reset();
            }
            input.flush();
        } catch (IOException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "the process of '" + name + "' does not run any more", e);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Sends a frame whose answer the calling thread reads by {@link #readUntil}, next. Where that is faster, the
     * worker's first thread is bound to the calling thread's core before, and unbinds itself when it reads a frame of
     * {@code boundKind}. For one thread at a time. Throws UNAVAILABLE when the process has ended.
     */
    public void ask(int kind, int boundKind, Consumer<FrameWriter> body) {
        boolean bound = Objects.requireNonNull(handOver, "nobody listens").bind();
        send(bound ? boundKind : kind, body);
    }

    /** Has a frame go out right before the next that is sent, together with that: the worker wakes up once. */
    public void sendWithNext(int kind, Consumer<FrameWriter> body) {
        sending.lock();
        try {
            writer.begin(kind);
            body.accept(writer);
            ByteBuffer frame = writer.end();
            before.write(frame.array(), frame.arrayOffset(), frame.limit());
        } finally {
            sending.unlock();
        }
    }

    private void readFrames(ReaderElection reading, FrameInput frames, Listener listener) {
        try (frames) {
            reading.readAll();
        } catch (IOException e) {
            LOG.debug("The output of '{}' could not be closed", name, e);
        } finally {
            end(listener);
        }
    }

    /** Reads a frame, and has it heard; false where the process says nothing any more, or what makes no sense. */
    private boolean readFrame(FrameInput frames, Listener listener) {
        try {
            if (!frames.next()) {
                return false;
            }
            listener.frame(frames.kind(), frames.body());
            return true;
        } catch (IOException e) {
            LOG.debug("The output of '{}' ended", name, e);
        } catch (RuntimeException | Error e) {
            LOG.error("The process of '{}' is ended, since what it said could not be handled", name, e);
            kill("it said what the server does not understand: " + e.getMessage());
        }
        return false;
    }

    private void end(Listener listener) {
        process.toHandle().destroyForcibly();
        boolean interrupted = false;
        int status = -1;
        while (status < 0) {
            try {
                status = process.waitFor();
                descendantsEnded.join();
                errors.join(Duration.ofSeconds(1));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        ended = true;
        over.complete(null);
        listener.ended(how(status));
    }

    private WorkerEnd how(int status) {
        WorkerEnd.Reason reason = killedBecause.isPresent()
                ? WorkerEnd.Reason.SERVER
                : status > SIGNALLED ? WorkerEnd.Reason.SIGNAL : WorkerEnd.Reason.EXIT;
        String signal = SIGNALS.getOrDefault(status - SIGNALLED, "signal " + (status - SIGNALLED));
        String how = killedBecause
                .map(why -> "was ended by the server, because " + why)
                .orElse(status > SIGNALLED ? "was ended by " + signal : "exited with status " + status);
        Duration lifetime = Duration.ofNanos(System.nanoTime() - startedNanos);
        WorkerEvents.ended(name, process.pid(), reason, how, lifetime);
        String words = said.lastWords();
        return new WorkerEnd(reason, words.isEmpty() ? how : how + "; its last words: " + words);
    }

    /** Whether it has not ended. */
    public boolean isRunning() {
        return !ended;
    }

    /** Ends the process at once. */
    public void kill(String reason) {
        if (killedBecause.isEmpty()) {
            killedBecause = Optional.of(reason);
        }
        // By its handle, since Process itself would close the errors too, with the last words in them.
        process.toHandle().destroyForcibly();
    }

    /** Waits for the process to end, and kills it in the end, with what it started and left. */
    public void awaitEnd(Duration grace) {
        try {
            if (!process.waitFor(grace.toNanos(), TimeUnit.NANOSECONDS)) {
                kill("it did not end within " + grace.toSeconds() + " s");
            }
            over.copy()
                    .completeOnTimeout(null, TIDYING.toNanos(), TimeUnit.NANOSECONDS)
                    .join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill("the server was interrupted");
        }
    }

    @Override
    public void close() {
        kill("it is not needed any more");
    }

    /**
     * Hands the core of a thread that asks over to the worker, where the answer comes sooner that way: one that sleeps
     * in the read of its pipe is otherwise woken on an idle core, which has to wake up first. For one asking thread at
     * a time.
     */
    static final class PipeHandOver {
        private final YieldBeforeBlock handOver;
        private final long pid;
        private final IntPredicate isWaiting;
        private @Nullable ProcessCore worker;
        private boolean asked;
        private long askedNanos;

        /** The thread that hands its core over; null for none. */
        private volatile @Nullable Thread giver;

        /** For a process that serves when it is first asked: until then it may choose its cores. */
        PipeHandOver(long pid, FrameInput answers, Tuning tuning) {
            this.handOver =
                    new YieldBeforeBlock(tuning.tuner(Subject.CORES, YieldBeforeBlock.WAYS, YieldBeforeBlock.TRIALS));
            this.pid = pid;
            isWaiting = number -> !answers.isReady();
        }

        /** Binds the worker to the calling thread's core, if that is to be handed over; just before it is asked. */
        boolean bind() {
            asked = true;
            askedNanos = System.nanoTime();
            if (worker == null) {
                worker = new ProcessCore(pid);
            }
            boolean bound = worker.bind(handOver.core());
            giver = bound ? Thread.currentThread() : null;
            return bound;
        }

        /** Yields the core until an answer or the end of use. For the elected reader only. */
        void await() {
            if (Thread.currentThread().equals(giver)) {
                giver = null;
                YieldBeforeBlock.await(isWaiting, 0);
            }
        }

        void noteAnswer() {
            if (asked) {
                asked = false;
                handOver.noteWait(System.nanoTime() - askedNanos);
            }
        }
    }
}
