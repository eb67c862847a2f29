// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.RunRequest.WorkerRun;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.spi.BackendInstance;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerMemory;
import gatun.workers.WorkerMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs requests on the process of an instance. */
final class PythonInstance implements BackendInstance {
    private final PythonModel model;
    private final RestartingWorker<PythonWorker> process;
    private final WorkerMetrics metrics;

    /** @param metrics of the processes; owned by this */
    PythonInstance(PythonModel model, RestartingWorker<PythonWorker> process, WorkerMetrics metrics) {
        this.model = model;
        this.process = process;
        this.metrics = metrics;
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void execute(Execution execution) {
        PythonWorker worker = process.worker();
        Hold memory = worker.memory().use();
        boolean detached = false;
        try {
            detached = execute(execution, worker, memory);
        } finally {
            if (!detached) {
                memory.close();
            }
        }
    }

    /** @return whether the rest of the execution was detached, at whose end {@code memory} is closed */
    private boolean execute(Execution execution, PythonWorker worker, Hold memory) {
        @Nullable
        RowBatch batch = execution.requests().size() < 2
                ? null
                : RowRequest.of(execution, worker.memory(), model.isDecoupled(), model.sharedRanks())
                        .orElse(null);
        List<? extends RunRequest> requests = batch == null
                ? List.of(new WholeRequest(execution, worker.memory(), model.sharedRanks()))
                : batch.requests();
        PythonRun run = run(requests, worker);
        execution.inferStarted();
        begin(worker, run);
        if (batch == null && model.isDecoupled() && !run.isOver() && execution.detach(new Rest(run, memory))) {
            return true;
        }
        finish(run);
        execution.inferEnded();
        if (batch != null) {
            batch.finish();
        }
        return false;
    }

    /** A run whose thread reads the answer itself, unless that may come late, or responses without end. */
    private PythonRun run(List<? extends RunRequest> requests, PythonWorker worker) {
        return model.isDecoupled() || !model.executionLimit().isZero()
                ? new PythonRun(requests, worker.memory(), model.isDecoupled())
                : new PythonRun(requests, worker.memory(), false, worker::readUntil);
    }

    @Override
    public void executeApart(List<? extends Execution> executions) {
        PythonWorker worker = process.worker();
        List<WholeRequest> requests = new ArrayList<>(executions.size());
        executions.forEach(execution -> requests.add(new WholeRequest(execution, worker.memory(), Map.of())));
        if (model.isDecoupled()) {
            executeTogether(executions, requests, worker);
            return;
        }
        PythonRun run = run(requests, worker).failingAsOne();
        Hold memory = worker.memory().use();
        try {
            executions.getFirst().inferStarted();
            begin(worker, run);
            finish(run);
            executions.getFirst().inferEnded();
        } finally {
            memory.close();
        }
    }

    /** Runs requests of a decoupled model in one call of execute, which each have responses of their own. */
    private void executeTogether(
            List<? extends Execution> executions, List<WholeRequest> requests, PythonWorker worker) {
        ApartPythonRun run = new ApartPythonRun(requests, worker.memory());
        List<Integer> kept = new ArrayList<>();
        Hold memory = worker.memory().use();
        try {
            executions.forEach(Execution::inferStarted);
            worker.begin(run);
            for (int i = 0; i < executions.size(); i++) {
                Hold shared = worker.memory().use();
                if (!executions.get(i).detach(new Rest(run.part(i), shared))) {
                    shared.close();
                    kept.add(i);
                }
            }
            if (!run.awaitReturn(model.executionLimit())) {
                killLate(worker);
            }
            for (int i : kept) {
                finish(executions.get(i), requests.get(i), run.part(i));
            }
        } finally {
            memory.close();
        }
    }

    private static void finish(Execution execution, WholeRequest request, PythonRun run) {
        try {
            finish(run);
            execution.inferEnded();
        } catch (GatunException e) {
            request.fail(e);
        }
    }

    private void killLate(PythonWorker worker) {
        worker.kill("execute took longer than execution_timeout_ms, "
                + model.executionLimit().toMillis());
    }

    /** Gives the run to the worker, and waits until {@code execute} has returned. */
    private void begin(PythonWorker worker, PythonRun run) {
        worker.begin(run);
        if (!run.awaitReturn(model.executionLimit())) {
            killLate(worker);
            finish(run);
        }
    }

    private static void finish(PythonRun run) {
        try {
            run.finish();
        } finally {
            run.close();
        }
    }

    /** The responses that come after {@code execute} has returned. */
    private record Rest(PythonRun run, Hold memory) implements DetachedRun {
        @Override
        public void run(Execution execution) {
            try {
                finish(run);
                execution.inferEnded();
            } finally {
                memory.close();
            }
        }

        /** The model asks whether the request is cancelled when it likes. */
        @Override
        public void stop() {}
    }

    Optional<String> failure() {
        return process.failure();
    }

    @Override
    public void abort() {
        process.abort();
    }

    @Override
    public void close() {
        process.close();
        metrics.close();
        model.closed(this);
    }

    /**
     * A call of {@code execute} for requests of a decoupled model. Each has a run of its own for its responses, so that
     * nobody waits for another's slow client. {@link #tell} is for the worker's thread, the rest for the instance's.
     */
    static final class ApartPythonRun implements WorkerRun {
        private final List<? extends RunRequest> requests;
        private final List<PythonRun> parts = new ArrayList<>();
        private final CountDownLatch returned = new CountDownLatch(1);
        private volatile long firstNumber;

        ApartPythonRun(List<? extends RunRequest> requests, WorkerMemory memory) {
            this.requests = List.copyOf(requests);
            for (RunRequest request : requests) {
                parts.add(new PythonRun(List.of(request), memory, true));
            }
        }

        @Override
        public List<? extends RunRequest> requests() {
            return requests;
        }

        @Override
        public void number(long first) {
            firstNumber = first;
        }

        @Override
        public long firstNumber() {
            return firstNumber;
        }

        @Override
        public boolean readsAnswer() {
            return false;
        }

        PythonRun part(int index) {
            return parts.get(index);
        }

        @Override
        public void tell(RunEvent event) {
            switch (event) {
                case RunEvent.Failed failed -> {
                    parts.forEach(part -> part.tell(failed));
                    returned.countDown();
                }
                case RunEvent.Returned all -> {
                    for (int i = 0; i < parts.size(); i++) {
                        parts.get(i)
                                .tell(new RunEvent.Returned(
                                        List.of(all.outcomes().get(i))));
                    }
                    returned.countDown();
                }
                case RunEvent.Sent sent ->
                    parts.get(sent.request()).tell(new RunEvent.Sent(0, sent.last(), sent.response()));
            }
        }

        /** Waits until {@code execute} has returned or the worker ended; false after {@code limit}, zero for ever. */
        boolean awaitReturn(Duration limit) {
            try {
                if (limit.isZero()) {
                    returned.await();
                    return true;
                }
                return returned.await(limit.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw PythonRun.interrupted(e);
            }
        }
    }
}
