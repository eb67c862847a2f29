// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.threads.FailureLog;
import gatun.runtime.ModelStatus.LoadProgress;
import gatun.runtime.ModelVersion;
import gatun.runtime.events.FlightRecording;
import gatun.runtime.events.RunEvent;
import gatun.runtime.execution.ModelInstances.InstanceResources;
import gatun.runtime.execution.PerRequestExecution.PerRequestRerun;
import gatun.runtime.execution.Run.ModelExecution;
import gatun.runtime.scheduling.BatchRunner;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs requests on one instance of a backend, on the thread of that instance. */
final class ModelInstance implements BatchRunner<PendingInference> {
    private static final Logger LOG = LoggerFactory.getLogger(ModelInstance.class);

    /** How long a warm-up may take that nobody has configured, and a trial likewise. */
    private static final Duration UNASKED = Duration.ofSeconds(1);

    private final InstanceSpec spec;
    private final String threadName;
    private final String modelName;
    private final BackendModel model;
    private final WarmUp warmUp;
    private final LoadWatch progress;
    private final BatchingTrial trial;
    private final boolean decoupled;

    /** Whether also a single request runs as a batch, since the model gets inputs of the runtime's with it. */
    private final boolean alwaysBatch;

    /** Whether the requests of a run that are no steps keep their own tensors. */
    private final boolean runsApart;

    private final UnbatchedExecutor singleRuns;
    private final PerRequestExecution apartRun;
    private final BatchExecution batchExecution;

    /** For steps of sequences; null unless the model has them. */
    private final @Nullable BatchExecution sequenceExecution;

    private final RunStopper batchStopper;
    private final RunFailures failures;
    private final PerRequestRerun rerun;

    /** Made and closed by the instance's thread. */
    private volatile @Nullable BackendInstance backend;

    /** Completed when nothing is left to do before the first run. */
    private final CompletableFuture<Void> prepared = new CompletableFuture<>();

    private volatile Runnable stop = () -> {};

    /** An instance that is not open yet, with its number {@code ordinal} in the model, from 0. */
    ModelInstance(InstanceSpec spec, int ordinal, InstanceResources resources) {
        this.spec = spec;
        model = resources.model();
        warmUp = resources.warmUp();
        progress = resources.progress();
        trial = resources.trial();
        InstanceCounters counters = resources.counters().lend();
        ModelSignature signature = resources.signature();
        modelName = signature.modelName();
        threadName = "instance-" + modelName + "-" + ordinal;
        decoupled = signature.decoupled();
        runsApart = resources.runsApart();
        alwaysBatch = signature.batchTensors() != null && !runsApart;
        @Nullable ResponseTable responses = decoupled ? counters.responses() : null;
        batchExecution = new BatchExecution(signature, null, resources.pool(), responses);
        sequenceExecution = resources.sequences() == null
                ? null
                : new BatchExecution(signature, resources.sequences(), resources.pool(), responses);
        batchStopper = new RunStopper(spec.name(), modelName);
        failures = new RunFailures(spec.name(), modelName, resources.counters());
        rerun = new PerRequestRerun(modelName, failures, resources.failedSenders());
        apartRun = new PerRequestExecution(resources.pool(), failures, rerun, batchStopper);
        singleRuns = new UnbatchedExecutor(spec.name(), resources, failures, counters);
        batchExecution.run().beforeInfer(batchStopper::stopAgain);
        if (sequenceExecution != null) {
            sequenceExecution.run().beforeInfer(batchStopper::stopAgain);
        }
    }

    @Override
    public String threadName() {
        return threadName;
    }

    @Override
    public boolean isBoundToThread() {
        BackendInstance opened = backend;
        // A request's own thread would hold a decoupled model's instance for as long as its client does not read.
        return opened == null || decoupled || opened.isBoundToThread();
    }

    @Override
    public void open() {
        BackendInstance opened = model.newInstance(spec);
        try {
            backend = opened;
            stop = opened::stop;
            warmUp.run(requests -> {
                progress.begin(LoadProgress.Phase.WARM_UP);
                runNow(requests);
            });
        } catch (RuntimeException | Error e) {
            backend = null;
            opened.close();
            throw e;
        }
    }

    /** {@inheritDoc} In the backend, what makes an instance is interrupted, and a run of a warm-up is aborted. */
    @Override
    public void abort() {
        BackendInstance opened = backend;
        if (opened != null) {
            opened.abort();
        }
    }

    /** {@inheritDoc} Warm-ups and batching trials, for which nobody asked, take a second at most. */
    @Override
    public void prepare(Runnable ready) {
        BackendInstance opened = opened();
        AtomicBoolean overdue = new AtomicBoolean();
        Runnable release = () -> {
            overdue.set(true);
            ready.run();
        };
        try {
            prepare(opened, release);
        } catch (RuntimeException | Error e) {
            if (!overdue.get()) {
                backend = null;
                opened.close();
                throw e;
            }
            // It serves already, and the next run tells whether it can.
            LOG.warn("Instance {} of model '{}' could not be warmed up", spec.name(), modelName, e);
        } finally {
            singleRuns.open();
            rerun.open();
            prepared.complete(null);
        }
        progress.instanceReady();
    }

    private void prepare(BackendInstance opened, Runnable overdue) {
        TimeLimit.within(UNASKED, opened::stop, overdue, limit -> opened.warmUp());
        if (trial.claim()) {
            Runnable givenUp = () -> {
                trial.giveUp();
                overdue.run();
            };
            TimeLimit.within(UNASKED, opened::stop, givenUp, limit -> trial.run(opened, limit));
        }
        opened.trimMemory();
    }

    @Override
    public long run(List<PendingInference> requests) {
        prepared.join();
        return runNow(requests);
    }

    private BackendInstance opened() {
        BackendInstance opened = backend;
        if (opened == null) {
            throw new IllegalStateException(spec.name() + " was not opened");
        }
        return opened;
    }

    private long runNow(List<PendingInference> requests) {
        BackendInstance opened = opened();
        try {
            long nanos = run(opened, requests);
            return nanos + rerun.run(pending -> runNow(List.of(pending)));
        } catch (Throwable t) {
            failures.failRest(requests, t);
            return 0;
        }
    }

    private long run(BackendInstance opened, List<PendingInference> requests) {
        boolean step = sequenceExecution != null && requests.getFirst().isStep();
        boolean single = !step && requests.size() == 1 && !alwaysBatch && !isPadded(requests.getFirst());
        RunStopper stopper = single ? singleRuns.stopper() : batchStopper;
        stopper.begin(stop, requests);
        if (RunStopper.areCancelled(requests)) {
            // Given up before they knew their instance: it is too late to leave the queue, and not to run.
            stopper.end();
            requests.forEach(pending -> failures.giveUp(pending, null));
            return 0;
        }
        RunEvent event = FlightRecording.run();
        Run times;
        long nanos;
        if (single) {
            times = singleRuns.times();
            nanos = singleRuns.run(opened, requests.getFirst());
        } else if (!step && runsApart) {
            times = decoupled ? batchExecution.run() : apartRun.times();
            nanos = decoupled ? runTogether(opened, requests) : apartRun.run(opened, requests, singleRuns.counters());
        } else {
            BatchExecution execution = step ? Objects.requireNonNull(sequenceExecution) : batchExecution;
            times = execution.run();
            nanos = runBatch(opened, requests, execution);
        }
        if (event != null && event.endWanted()) {
            tell(event, requests, nanos > 0 ? times : null);
        }
        return nanos;
    }

    /** @param times of the stages; null where the run goes on beside the instance */
    private void tell(RunEvent event, List<PendingInference> requests, @Nullable Run times) {
        int rows = 0;
        for (PendingInference pending : requests) {
            rows += Math.max(1, pending.batchSize());
        }
        ModelVersion asked = requests.getFirst().request().model();
        event.ranBy(modelName, Long.toString(asked.version()), spec.name());
        event.batch(requests.size(), rows);
        if (times != null) {
            times.tell(event);
        }
        event.commit();
    }

    private long runTogether(BackendInstance opened, List<PendingInference> requests) {
        try {
            return singleRuns.runTogether(opened, requests, batchExecution.run());
        } finally {
            batchStopper.end();
        }
    }

    /** Whether the backend gets more rows than the request has. */
    private static boolean isPadded(PendingInference pending) {
        int rows = pending.batchSize();
        return rows > 0 && pending.signature().runSize(rows) != rows;
    }

    private long runBatch(BackendInstance opened, List<PendingInference> requests, BatchExecution execution) {
        try {
            execution.begin(requests);
            execute(opened, execution);
            requests.forEach(pending -> pending.request().markStepTaken());
            execution.finish();
            singleRuns.counters().executed(execution.batchSize(), execution.run());
            execution.run().tellTimes();
            for (PendingInference pending : requests) {
                pending.failure()
                        .ifPresent(
                                failure -> failures.fail(pending, failure, FailureReason.OTHER, true, execution.run()));
            }
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            execution.breakOff();
            boolean runsApart = !decoupled && execution.mayRunAgain() && rerun.take(requests, e, execution.run());
            if (!runsApart) {
                failures.failAll(requests, e, execution.run());
            }
        } finally {
            batchStopper.end(); // it may have failed before the engine was asked
            execution.clear();
        }
        return nanos(execution.run());
    }

    private void execute(BackendInstance opened, ModelExecution execution) {
        try {
            execution.run().markExecuting();
            opened.execute(execution);
        } finally {
            batchStopper.end();
        }
    }

    private static long nanos(Run run) {
        return run.endedNanos() - run.startedNanos();
    }

    @Override
    public void close() {
        singleRuns.close();
        BackendInstance opened = backend;
        if (opened != null) {
            try {
                opened.close();
            } catch (RuntimeException | Error e) {
                FailureLog.write(
                        e,
                        failure -> LOG.error(
                                "Instance {} of model '{}' could not be closed in order",
                                spec.name(),
                                modelName,
                                failure));
            }
        }
        countNoMore();
    }

    /** Says that this runs nothing any more; what it has counted stays. May be called again. */
    void countNoMore() {
        singleRuns.countNoMore();
    }
}
