// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.isolation.frames.Job;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.SharedMemoryChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An instance and its thread, which takes runs from a mailbox. {@link #stop} is for any thread. */
final class HostedInstance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostedInstance.class);
    private static final int OK = 0;
    private static final int REFUSED = 1;
    private static final int BROKEN = 2;

    private final SharedMemoryChannel mailbox;
    private final EngineMemory memory;
    private final CompletableFuture<BackendInstance> opened = new CompletableFuture<>();

    /** Keeps a run from ending while the engine is told to stop it. */
    private final ReentrantLock stopping = new ReentrantLock();

    private boolean running; // guarded by stopping
    private final Thread thread;

    private HostedInstance(BackendModel model, InstanceSpec spec, SharedMemoryChannel mailbox, EngineMemory memory) {
        this.mailbox = mailbox;
        this.memory = memory;
        thread = Thread.ofPlatform().name(spec.name()).unstarted(() -> run(model, spec));
    }

    /** Makes an instance on a thread of its own. Throws {@link GatunException} when the engine refuses. */
    static HostedInstance open(
            BackendModel model, InstanceSpec spec, SharedMemoryChannel mailbox, EngineMemory memory) {
        HostedInstance instance = new HostedInstance(model, spec, mailbox, memory);
        instance.thread.start();
        try {
            instance.opened.get();
            return instance;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GatunException refused) {
                throw refused;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.CANCELLED, "the start of '" + spec.name() + "' was interrupted", e);
        }
    }

    private void run(BackendModel model, InstanceSpec spec) {
        BackendInstance instance;
        try {
            instance = model.newInstance(spec);
        } catch (Throwable e) {
            opened.completeExceptionally(e);
            return;
        }
        opened.complete(instance);
        try (instance) {
            while (mailbox.awaitWorker() == SharedMemoryChannel.Turn.RUN) {
                serve(instance, mailbox.frame());
            }
        }
    }

    private void serve(BackendInstance instance, FrameReader frame) {
        int returned = frame.count(Long.BYTES);
        for (int i = 0; i < returned; i++) {
            memory.release(frame.u64());
        }
        Job job = Job.of(frame.u8());
        List<HostedExecution> executions = new ArrayList<>();
        int count = frame.count(1);
        for (int i = 0; i < count; i++) {
            executions.add(HostedExecution.read(i, frame, new Responses(instance)));
        }
        running(true);
        try {
            switch (job) {
                case EXECUTE -> instance.execute(executions.getFirst());
                case EXECUTE_APART -> instance.executeApart(executions);
                case WARM_UP -> instance.warmUp();
                case TRIM_MEMORY -> instance.trimMemory();
            }
            running(false);
        } catch (GatunException e) {
            running(false);
            fail(executions, REFUSED, e);
            return;
        } catch (Throwable e) {
            running(false);
            // Also checked exceptions, which other languages than Java throw from anywhere.
            LOG.error("A run failed unexpectedly", e);
            fail(executions, BROKEN, new GatunException(ErrorCode.INTERNAL, e.toString(), e));
            return;
        }
        boolean posted = mailbox.post(SharedMemoryChannel.Turn.DONE, out -> {
            out.u8(OK).u32(executions.size());
            executions.forEach(execution -> execution.write(out));
        });
        executions.forEach(posted ? HostedExecution::lend : HostedExecution::drop);
    }

    private void running(boolean now) {
        stopping.lock();
        try {
            running = now;
        } finally {
            stopping.unlock();
        }
    }

    private void fail(List<HostedExecution> executions, int how, GatunException reason) {
        executions.forEach(HostedExecution::drop);
        mailbox.post(SharedMemoryChannel.Turn.DONE, out -> FrameValues.writeFailure(out.u8(how), reason));
    }

    /** What an execution needs of its instance. */
    final class Responses {
        private final BackendInstance instance;

        private Responses(BackendInstance instance) {
            this.instance = instance;
        }

        EngineMemory memory() {
            return memory;
        }

        /** Sends outputs or a failure, and waits for the server. Throws as {@link gatun.spi.Execution#send}. */
        void send(int index, HostedExecution execution, @Nullable GatunException failure) {
            boolean posted = mailbox.post(SharedMemoryChannel.Turn.MORE, out -> {
                execution.write(out.u32(index));
                out.u8(failure == null ? OK : REFUSED);
                if (failure != null) {
                    FrameValues.writeFailure(out, failure);
                }
            });
            if (!posted) {
                execution.drop();
                throw new GatunException(ErrorCode.CANCELLED, "the server does not run any more");
            }
            execution.lend();
            if (mailbox.awaitWorker() != SharedMemoryChannel.Turn.GO_ON) {
                throw new GatunException(ErrorCode.CANCELLED, "the server does not run any more");
            }
            FrameReader answer = mailbox.frame();
            if (answer.u8() != OK) {
                throw FrameValues.readFailure(answer);
            }
        }

        /** Tells the engine again to stop where the run is wanted no more. */
        void stopAgain() {
            if (mailbox.isAskedToStop()) {
                instance.stop();
            }
        }

        boolean isUnwanted() {
            return mailbox.isAskedToStop();
        }
    }

    /** Asks the engine to end the run under way. */
    void stop() {
        stopping.lock();
        try {
            if (running && mailbox.isAskedToStop()) {
                opened.join().stop();
            }
        } finally {
            stopping.unlock();
        }
    }

    /** Waits for the end of the run under way, and closes the instance. */
    @Override
    public void close() {
        mailbox.end();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
