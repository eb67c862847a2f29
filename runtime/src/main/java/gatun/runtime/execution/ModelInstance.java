// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.FailureLog;
import gatun.runtime.scheduling.Worker;
import gatun.runtime.statistics.FailureReason;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs requests on one instance of a backend, on the thread of that instance. */
final class ModelInstance implements Worker<InferenceTicket> {
    private static final Logger LOG = LoggerFactory.getLogger(ModelInstance.class);

    private final InstanceSpec spec;
    private final String threadName;
    private final BackendModel model;
    private final String modelName;
    private final InstanceExecution execution;
    private final BatchExecution batchExecution;
    private final boolean alwaysBatch;
    private final boolean decoupled;

    /** For steps of sequences; null unless the model has them. */
    private final @Nullable SequenceExecution sequenceExecution;

    private final WarmUp warmUp;
    private final InstanceCounters counters;
    private final ModelCounters modelCounters;

    /** Keeps a run from ending while the engine is told to stop it. Held for a moment only: telling sets a mark. */
    private final ReentrantLock running = new ReentrantLock();

    /** The tickets of the run under way; guarded by {@link #running}. */
    private List<InferenceTicket> batch = List.of();

    private boolean stopped; // guarded by running

    /** Made and closed by the instance's thread. */
    private volatile @Nullable BackendInstance backend;

    /**
     * An instance that is not open yet.
     *
     * @param spec what the backend is to make
     * @param ordinal its number among the model's instances, from 0
     * @param sequences what the model has to do with sequences; null for nothing
     * @param warmUp what it answers before it serves
     */
    ModelInstance(
            InstanceSpec spec,
            int ordinal,
            BackendModel model,
            ModelSignature signature,
            @Nullable SequenceModel sequences,
            BufferPool pool,
            WarmUp warmUp,
            ModelCounters modelCounters) {
        this.spec = spec;
        this.model = model;
        this.warmUp = warmUp;
        this.modelCounters = modelCounters;
        counters = modelCounters.lend();
        modelName = signature.modelName();
        threadName = "instance-" + modelName + "-" + ordinal;
        decoupled = signature.decoupled();
        execution = decoupled ? new DecoupledExecution(pool, counters.responses()) : new InstanceExecution(pool);
        BatchTensors batchTensors = signature.batchTensors();
        @Nullable ResponseTable responses = decoupled ? counters.responses() : null;
        alwaysBatch = batchTensors != null;
        batchExecution = batchTensors == null
                ? new BatchExecution(signature, pool, responses)
                : new RaggedExecution(signature, batchTensors, pool, responses);
        sequenceExecution = sequences == null ? null : new SequenceExecution(signature, sequences, pool, responses);
        execution.beforeInfer(this::stopAgain);
        batchExecution.beforeInfer(this::stopAgain);
        if (sequenceExecution != null) {
            sequenceExecution.beforeInfer(this::stopAgain);
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
            opened.warmUp();
            backend = opened;
            warmUp.run(this::run);
        } catch (RuntimeException | Error e) {
            backend = null;
            opened.close();
            throw e;
        }
    }

    @Override
    public long run(List<InferenceTicket> tickets) {
        BackendInstance opened = backend;
        if (opened == null) {
            throw new IllegalStateException(spec.name() + " was not opened");
        }
        try {
            return run(opened, tickets);
        } catch (Throwable t) {
            // A fault in the handling of a failure, such as a stack that is full still: nobody may wait for ever.
            for (InferenceTicket ticket : tickets) {
                if (!ticket.hasFailed()) {
                    ticket.fail(unexpected(t));
                }
            }
            log(t);
            return 0;
        }
    }

    private long run(BackendInstance opened, List<InferenceTicket> tickets) {
        begin(tickets);
        if (isUnwanted(tickets)) {
            // Given up before they knew their instance: it is too late to leave the queue, and not to run.
            over();
            GatunException unwanted = new GatunException(ErrorCode.CANCELLED, "");
            tickets.forEach(ticket -> fail(ticket, unwanted, FailureReason.CANCELED, false));
            return 0;
        }
        if (sequenceExecution != null && tickets.getFirst().isStep()) {
            return runAll(opened, tickets, sequenceExecution);
        }
        return tickets.size() == 1 && !alwaysBatch && !isPadded(tickets.getFirst())
                ? runOne(opened, tickets.getFirst())
                : runAll(opened, tickets, batchExecution);
    }

    /** Whether the backend gets more rows than the request has. */
    private static boolean isPadded(InferenceTicket ticket) {
        int rows = ticket.batchSize();
        return rows > 0 && ticket.signature().runSize(rows) != rows;
    }

    private void begin(List<InferenceTicket> tickets) {
        running.lock();
        try {
            batch = tickets;
            stopped = false;
        } finally {
            running.unlock();
        }
        for (int i = 0; i < tickets.size(); i++) {
            tickets.get(i).runBy(this);
        }
    }

    /** Ends the run as far as others are concerned: nobody stops it from now on. */
    private void over() {
        running.lock();
        try {
            batch = List.of();
        } finally {
            running.unlock();
        }
    }

    /** Tells the engine to stop when nobody wants any answer of the present run. For any thread. */
    void stopUnwanted() {
        running.lock();
        try {
            BackendInstance opened = backend;
            if (opened != null && !stopped && !batch.isEmpty() && isUnwanted(batch)) {
                stopped = true;
                stop(opened);
            }
        } finally {
            running.unlock();
        }
    }

    /**
     * Tells the engine again what it may have missed: at the beginning of a run it forgets that the one before was to stop, and with it what
     * it was told of this one a moment before. By the thread of the run.
     */
    private void stopAgain() {
        BackendInstance opened = backend;
        if (opened == null || batch.isEmpty() || !isUnwanted(batch)) {
            return;
        }
        running.lock();
        try {
            stopped = true;
            stop(opened);
        } finally {
            running.unlock();
        }
    }

    private void stop(BackendInstance opened) {
        try {
            opened.stop();
        } catch (RuntimeException | Error e) {
            // Whoever gave the requests up has more to do than to learn of that.
            FailureLog.write(
                    e,
                    failure -> LOG.error(
                            "Instance {} of model '{}' could not be told to stop", spec.name(), modelName, failure));
        }
    }

    private static boolean isUnwanted(List<InferenceTicket> tickets) {
        for (int i = 0; i < tickets.size(); i++) {
            if (!tickets.get(i).isUnwanted()) {
                return false;
            }
        }
        return true;
    }

    private long runOne(BackendInstance opened, InferenceTicket ticket) {
        execution.begin(ticket);
        try {
            execute(opened, execution);
            ticket.markTaken();
            finish(ticket);
        } catch (GatunException e) {
            execution.brokenOff();
            fail(
                    ticket,
                    e,
                    execution.refused(e) ? FailureReason.OTHER : FailureReason.BACKEND,
                    execution.mayHaveTaken(e));
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            execution.brokenOff();
            failUnexpectedly(ticket, e);
        } finally {
            execution.clear();
        }
        return execution.endedNanos() - execution.startedNanos();
    }

    private void execute(BackendInstance opened, TimedExecution run) {
        try {
            run.executing();
            opened.execute(run);
        } finally {
            over();
        }
    }

    private long runAll(BackendInstance opened, List<InferenceTicket> tickets, BatchExecution run) {
        try {
            run.begin(tickets);
            execute(opened, run);
            tickets.forEach(InferenceTicket::markTaken);
            run.finish();
            counters.executed(run.batchSize(), run);
            run.tellTimes();
            for (InferenceTicket ticket : tickets) {
                ticket.failure().ifPresent(failure -> fail(ticket, failure, FailureReason.OTHER, true));
            }
        } catch (GatunException e) {
            run.brokenOff();
            FailureReason reason = run.refused(e) ? FailureReason.OTHER : FailureReason.BACKEND;
            boolean taken = run.mayHaveTaken(e);
            tickets.forEach(ticket -> fail(ticket, e, reason, taken));
        } catch (Throwable e) {
            run.brokenOff();
            tickets.forEach(ticket -> failUnexpectedly(ticket, e));
        } finally {
            over(); // it may have failed before the engine was asked
            run.clear();
        }
        return run.endedNanos() - run.startedNanos();
    }

    private void finish(InferenceTicket ticket) {
        try {
            execution.finish();
        } catch (GatunException e) {
            execution.brokenOff();
            fail(ticket, e, FailureReason.OTHER, true);
            return;
        }
        counters.executed(ticket.batchSize(), execution);
        execution.tellTimes();
    }

    /** Ends a run that something unforeseen broke off: a client that took its memory away, or else a fault of ours or the engine's. */
    private void failUnexpectedly(InferenceTicket ticket, Throwable failure) {
        if (failure instanceof InternalError) {
            // How the JVM reports a mapping that lost its memory. The lease knows whether it was the client's.
            try {
                ticket.settle();
            } catch (GatunException broken) {
                fail(ticket, broken, FailureReason.OTHER, true);
                return;
            }
        }
        ticket.fail(unexpected(failure));
        modelCounters.failed(FailureReason.BACKEND, ticket.arrivedNanos());
        log(failure);
    }

    private GatunException unexpected(Throwable failure) {
        return new GatunException(
                ErrorCode.INTERNAL,
                "model '" + modelName + "' failed unexpectedly; the server's log says more",
                failure);
    }

    private void log(Throwable unexpected) {
        FailureLog.write(
                unexpected,
                failure -> LOG.error("Instance {} of model '{}' failed unexpectedly", spec.name(), modelName, failure));
    }

    /** @param taken whether the model may have taken the request, whose failure then does not invite to repeat it */
    private void fail(InferenceTicket ticket, GatunException failure, FailureReason reason, boolean taken) {
        if (ticket.isUnwanted()) {
            modelCounters.failed(FailureReason.CANCELED, ticket.arrivedNanos());
            ticket.fail(new GatunException(ErrorCode.CANCELLED, "", failure));
            return;
        }
        failed(ticket, failure, reason);
        if (taken) {
            ticket.failAfterRun(failure);
        } else {
            ticket.fail(failure);
        }
    }

    private void failed(InferenceTicket ticket, GatunException failure, FailureReason reason) {
        if (failure.code() == ErrorCode.INTERNAL) {
            // Not the client's mistake: whoever runs the server should know, whatever protocol the request came by.
            LOG.warn("Model '{}' failed a request: {}", modelName, failure.getMessage());
        }
        modelCounters.failed(reason, ticket.arrivedNanos());
    }

    @Override
    public void close() {
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
        modelCounters.giveBack(counters);
    }
}
