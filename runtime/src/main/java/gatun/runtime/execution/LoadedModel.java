// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.BatchingRule;
import gatun.runtime.Cancellation;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ResponseReceiver;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.runtime.scheduling.InstanceScheduler;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.scheduling.SequenceScheduler;
import gatun.runtime.statistics.FailureReason;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.tracing.TraceStage;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelMetrics;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model version with running instances. Owns the backend's model and the instances' threads. Safe for any thread; after
 * {@link #close} it refuses requests.
 */
public final class LoadedModel implements ServedModel {
    private static final Logger LOG = LoggerFactory.getLogger(LoadedModel.class);

    /** How long an instance waits for a client that reads no response, while it could serve others. */
    private static final Duration RECEIVER_PATIENCE = Duration.ofSeconds(60);

    /** Why a model refuses requests when its scheduler has failed. */
    private static final String BROKEN =
            "the model is out of service because of a fault of the server, of which its log says more; load it again";

    /** Changes only in its instance groups. */
    private volatile ModelConfig config;

    private final long version;
    private final String versionText;
    private final ModelSignature signature;
    private final RequestCheck check;
    private final SequencedMap<String, EntryPoint> entryPoints;
    private final QueueRules queueRules;

    /** How requests share runs where the configuration does not say it; null for most models. */
    private final @Nullable BatchingRule ruled;

    private final BufferPool pool;
    private final @Nullable SequenceModel sequences;
    private final BackendModel backend;
    private final ModelInstances instances;
    private final Scheduler<InferenceTicket> scheduler;
    private final ModelCounters counters;
    private final Supplier<List<String>> readyVersions;
    private volatile long loadNanos;
    private volatile boolean closing;
    private final AtomicBoolean backendClosed = new AtomicBoolean();

    private LoadedModel(
            ModelConfig config,
            long version,
            ModelSignature signature,
            RequestCheck check,
            SequencedMap<String, EntryPoint> entryPoints,
            BackendModel backend,
            ModelInstances instances,
            QueueRules queueRules,
            @Nullable BatchingRule ruled,
            BufferPool pool,
            @Nullable SequenceModel sequences,
            Scheduler<InferenceTicket> scheduler,
            ModelCounters counters,
            Supplier<List<String>> readyVersions) {
        this.config = config;
        this.version = version;
        this.versionText = Long.toString(version);
        this.signature = signature;
        this.check = check;
        this.entryPoints = entryPoints;
        this.queueRules = queueRules;
        this.ruled = ruled;
        this.pool = pool;
        this.sequences = sequences;
        this.backend = backend;
        this.instances = instances;
        this.scheduler = scheduler;
        this.counters = counters;
        this.readyVersions = readyVersions;
    }

    private static SequencedMap<String, EntryPoint> entryPoints(ModelSignature first, List<ModelSignature> others) {
        SequencedMap<String, EntryPoint> all = new LinkedHashMap<>();
        all.put(first.entryPoint().name(), first.entryPoint());
        others.forEach(other -> all.put(other.entryPoint().name(), other.entryPoint()));
        return Collections.unmodifiableSequencedMap(all);
    }

    /**
     * Starts the instances of a version and waits until they are warm. Owns {@code backend} from now on, also when this
     * fails.
     *
     * @param labels the lines of the label files, by output name
     * @param warmUps what each instance answers before it serves
     * @param states what the model gives for one step of a sequence and gets for the next
     * @param queueLimit how many requests may wait where the configuration sets no limit
     * @param rule how requests share runs where the configuration does not say it; empty for not at all
     * @param rateLimiter says when instances may run
     * @param readyVersions tells the ready versions of the same model, ascending
     * @throws GatunException when an instance does not start
     */
    public static LoadedModel start(
            ModelConfig config,
            long version,
            BackendModel backend,
            Map<String, List<String>> labels,
            WarmUpPlan warmUps,
            List<StateTensor> states,
            BufferPool pool,
            int queueLimit,
            Optional<BatchingRule> rule,
            RateLimiter rateLimiter,
            Supplier<List<String>> readyVersions) {
        List<EntryPoint> entryPoints = backend.entryPoints();
        @Nullable
        BatchingRule ruled = rule.filter(
                        present -> !config.getModelTransactionPolicy().getDecoupled())
                .map(present -> limited(present, config))
                .orElse(null);
        ModelSignature signature =
                new ModelSignature(config, labels, entryPoints.isEmpty() ? null : entryPoints.getFirst(), ruled);
        SequenceModel sequences = SequenceModel.of(config, states, queueLimit);
        List<ModelSignature> others = sequences == null && signature.batchTensors() == null
                ? entryPoints.stream()
                        .skip(signature.isAsNamed() ? 1 : 0)
                        .map(signature::of)
                        .toList()
                : List.of();
        SequencedMap<String, EntryPoint> served = entryPoints(signature, others);
        RequestCheck check = new RequestCheck(signature, others);
        WarmUp warmUp = new WarmUp(warmUps, new LoadingVersion(config, version, signature, served), check);
        ModelCounters counters = new ModelCounters();
        ModelInstances instances = new ModelInstances(
                new InstanceResources(backend, signature, sequences, pool, warmUp, counters), rateLimiter);
        try {
            QueueRules queueRules = QueueRules.of(config, queueLimit, ruled);
            ModelInstances.Change first = instances.toward(config);
            Scheduler<InferenceTicket> scheduler = sequences == null
                    ? InstanceScheduler.open(queueRules.policy(), first.added())
                    : SequenceScheduler.open(sequences.policy(), first.added());
            instances.made(first);
            return new LoadedModel(
                    config,
                    version,
                    signature,
                    check,
                    served,
                    backend,
                    instances,
                    queueRules,
                    ruled,
                    pool,
                    sequences,
                    scheduler,
                    counters,
                    readyVersions);
        } catch (RuntimeException | Error e) {
            backend.close();
            throw e;
        }
    }

    /** A configuration that names a batch size limits requests more than the rule does. */
    private static BatchingRule limited(BatchingRule rule, ModelConfig config) {
        int size = config.getMaxBatchSize();
        return size > 0 && size < rule.maxBatchSize() ? rule.withMaxBatchSize(size) : rule;
    }

    @Override
    public boolean adjustInstances(ModelConfig next) {
        if (!ModelConfiguration.withoutInstances(next).equals(ModelConfiguration.withoutInstances(config))) {
            return false;
        }
        ModelInstances.Change change = instances.toward(next);
        boolean made = false;
        try {
            made = scheduler.exchange(change.added(), change.removed());
        } finally {
            if (!made) {
                instances.givenUp(change);
            }
        }
        if (!made) {
            throw new VersionRetiredException();
        }
        instances.made(change);
        config = next;
        LOG.info("Model '{}' version {} runs on {} instances now", next.getName(), version, instances.count());
        return true;
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        if (signature.decoupled()) {
            throw RequestErrors.decoupled(config.getName());
        }
        long arrivedNanos = System.nanoTime();
        InferenceTicket ticket = checked(request, arrivedNanos);
        if (ruled != null && ticket.batchSize() > ruled.maxRunSize()) {
            return inferInPieces(new SplitTicket(ticket, ruled.maxRunSize()), request, arrivedNanos);
        }
        complete(ticket, request, arrivedNanos);
        return ticket.response(config.getName(), versionText);
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        if (!signature.decoupled()) {
            receiver.accept(infer(request), true);
            return;
        }
        long arrivedNanos = System.nanoTime();
        InferenceTicket ticket = checked(request, arrivedNanos);
        ResponseStream responses = new ResponseStream(receiver, RECEIVER_PATIENCE);
        ticket.respondTo(responses);
        try {
            complete(ticket, request, arrivedNanos);
            responses.deliver();
        } finally {
            responses.abandon();
        }
        responses.check();
        ticket.failure().ifPresent(failure -> {
            throw failure;
        });
    }

    /** Answers a request that is too large for one run; its pieces run side by side, as instances are free. */
    private InferenceResponse inferInPieces(SplitTicket split, InferenceRequest request, long arrivedNanos) {
        try {
            completeAll(split.pieces(), request, arrivedNanos);
            return split.response(pool, config.getName(), versionText);
        } catch (GatunException e) {
            throw request.afterRun(e);
        } finally {
            split.pieces().forEach(InferenceTicket::drop);
        }
    }

    /** Brings a checked request to its end, or throws what kept it from running; parks the calling thread. */
    private void complete(InferenceTicket ticket, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        queueRules.apply(ticket, request, arrivedNanos);
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(() -> ticket.cancel(scheduler))) {
            throw givenUp(arrivedNanos);
        }
        try {
            submit(ticket, request, arrivedNanos);
            request.submitted();
            await(ticket, arrivedNanos);
        } catch (GatunException e) {
            throw request.afterRun(e); // a step that runs again and again has run before
        } finally {
            cancellation.end();
        }
    }

    /** The same for the pieces of one request. */
    private void completeAll(List<InferenceTicket> tickets, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        for (int i = 0; i < tickets.size(); i++) {
            queueRules.apply(tickets.get(i), request, arrivedNanos);
        }
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(() -> tickets.forEach(ticket -> ticket.cancel(scheduler)))) {
            throw givenUp(arrivedNanos);
        }
        int submitted = 0;
        int ended = 0;
        try {
            for (; submitted < tickets.size(); submitted++) {
                submit(tickets.get(submitted), request, arrivedNanos);
            }
            request.submitted();
            while (ended < submitted) {
                await(tickets.get(ended++), arrivedNanos);
            }
        } finally {
            // After a failure: what runs uses the request's memory until it has ended.
            for (int i = ended; i < submitted; i++) {
                tickets.get(i).giveUp(scheduler);
            }
            for (int i = ended; i < submitted; i++) {
                tickets.get(i).await(scheduler);
            }
            cancellation.end();
        }
    }

    /** Has a ticket wait for an instance. */
    private void submit(InferenceTicket ticket, InferenceRequest request, long arrivedNanos) {
        switch (scheduler.submit(ticket)) {
            case ACCEPTED -> {}
            case QUEUE_FULL -> {
                counters.failed(FailureReason.REJECTED, arrivedNanos);
                throw ruled != null
                        ? RequestErrors.schedulingQueueFull(ruled.maxWaitingRuns())
                        : new GatunException(
                                ErrorCode.UNAVAILABLE, RequestErrors.prefix(request) + "Exceeds maximum queue size");
            }
            case STOPPING -> throw stopping(arrivedNanos);
            case NO_SEQUENCE -> {
                counters.failed(FailureReason.OTHER, arrivedNanos);
                throw RequestErrors.sequenceNotStarted(request, config.getName());
            }
        }
        if (ticket.isUnwanted()) {
            ticket.giveUp(scheduler); // it was not in the queue yet when it was given up
        }
    }

    /** Waits for a ticket's end; parks the calling thread. */
    private void await(InferenceTicket ticket, long arrivedNanos) {
        switch (ticket.await(scheduler)) {
            case COMPLETED -> {}
            case REFUSED -> throw stopping(arrivedNanos);
            case EXPIRED -> {
                counters.failed(FailureReason.REJECTED, arrivedNanos);
                throw new GatunException(
                        ErrorCode.UNAVAILABLE,
                        sequences == null
                                ? "Request timeout expired"
                                : "timeout of the corresponding sequence has been expired");
            }
            case GIVEN_UP -> throw givenUp(arrivedNanos);
        }
    }

    private GatunException givenUp(long arrivedNanos) {
        counters.failed(FailureReason.CANCELED, arrivedNanos);
        return new GatunException(ErrorCode.CANCELLED, "");
    }

    private InferenceTicket checked(InferenceRequest request, long arrivedNanos) {
        try {
            InferenceTicket ticket = check.ticket(request, arrivedNanos);
            if (sequences != null) {
                ticket.isStepOf(sequences, sequences.step(request, ticket.batchSize()));
            }
            return ticket;
        } catch (GatunException e) {
            counters.failed(FailureReason.OTHER, arrivedNanos);
            throw e;
        }
    }

    private GatunException stopping(long arrivedNanos) {
        counters.failed(FailureReason.REJECTED, arrivedNanos);
        return scheduler.isBroken() ? new GatunException(ErrorCode.UNAVAILABLE, BROKEN) : new VersionRetiredException();
    }

    @Override
    public void loadTime(Duration time) {
        loadNanos = time.toNanos();
    }

    @Override
    public ModelStatistics statistics() {
        return counters.snapshot(config.getName(), versionText, scheduler.pendingCount(), loadNanos);
    }

    @Override
    public Optional<ModelLatencies> latencies() {
        Map<String, List<Double>> bounds = new HashMap<>();
        for (ModelMetrics.MetricControl control : config.getModelMetrics().getMetricControlList()) {
            bounds.put(
                    control.getMetricIdentifier().getFamily(),
                    control.getHistogramOptions().getBucketsList().stream()
                            .sorted()
                            .distinct()
                            .toList());
        }
        return Optional.of(new ModelLatencies(
                config.getName(), versionText, signature.decoupled(), counters.latencies(), Optional.empty(), bounds));
    }

    @Override
    public List<String> labels(String output) {
        return signature.labels(output);
    }

    @Override
    public void drain() {
        closing = true;
        scheduler.drain();
    }

    @Override
    public boolean close(Duration grace) {
        closing = true;
        boolean ended = scheduler.close(grace);
        if (ended && backendClosed.compareAndSet(false, true)) {
            try {
                backend.close();
            } catch (RuntimeException | Error e) {
                // One backend's fault is not to keep others from being closed.
                LOG.error("Model '{}' could not be closed in order", config.getName(), e);
            }
        }
        return ended;
    }

    @Override
    public long version() {
        return version;
    }

    @Override
    public String versionText() {
        return versionText;
    }

    @Override
    public List<TensorSpec> inputs() {
        return signature.inputSpecs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return signature.outputSpecs();
    }

    @Override
    public List<String> choices() {
        return backend.choices();
    }

    @Override
    public SequencedMap<String, EntryPoint> entryPoints() {
        return entryPoints;
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    @Override
    public boolean ready() {
        return !closing && unavailability().isEmpty();
    }

    @Override
    public Optional<String> unavailability() {
        return scheduler.isBroken() ? Optional.of(BROKEN) : instances.failure();
    }

    @Override
    public List<String> readyVersions() {
        return readyVersions.get();
    }
}
