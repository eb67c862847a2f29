// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.BatchingRule;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.events.FlightRecording;
import gatun.runtime.events.ModelLoadEvent.ModelUnloadEvent;
import gatun.runtime.execution.ModelInstances.InstanceResources;
import gatun.runtime.execution.RequestCheck.EntryPoints;
import gatun.runtime.execution.RequestSubmitter.QueueRules;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.spi.EntryPoint;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelMetrics;
import gatun.wire.tensorflow.SignatureDef;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A model version with instances. Owns the backend's model and the instances' threads. Thread-safe. */
public final class LoadedModel implements ServedModel {
    private static final Logger LOG = LoggerFactory.getLogger(LoadedModel.class);

    /** Begins what is told of a model whose requests share no runs. */
    private static final String ALONE = "requests run one by one, since nobody has configured dynamic_batching and ";

    /** How long an instance waits for a client that reads no response, while it could serve others. */
    private static final Duration RECEIVER_TIMEOUT = Duration.ofSeconds(60);

    /** As it was completed, whatever the load has found out. Changes only in its instance groups. */
    private volatile ModelConfig completed;

    /** As it is served: without batching where that is not to be. Changes with {@link #completed}. */
    private volatile ModelConfig config;

    private final long version;
    private final String versionText;
    private final EntryPoints entryPoints;
    private final ModelSignature signature;
    private final InstanceResources resources;
    private final ModelInstances instances;
    private final Scheduler<PendingInference> scheduler;
    private final RequestSubmitter submitter;
    private final Supplier<List<String>> readyVersions;

    /** How many rows one run may have; no limit but the configuration's for most models. */
    private final int maxRunSize;

    private volatile long loadNanos;
    private volatile long memoryByteSize;
    private volatile Optional<byte[]> fingerprint = Optional.empty();
    private volatile boolean closing;
    private final AtomicBoolean backendClosed = new AtomicBoolean();

    private LoadedModel(
            VersionDefinition definition,
            EntryPoints entryPoints,
            InstanceResources resources,
            ModelInstances instances,
            Scheduler<PendingInference> scheduler,
            QueueRules queueRules,
            Supplier<List<String>> readyVersions) {
        completed = definition.config();
        config = served(completed, resources.trial());
        version = definition.version();
        versionText = Long.toString(version);
        this.entryPoints = entryPoints;
        signature = entryPoints.signature();
        this.resources = resources;
        this.instances = instances;
        this.scheduler = scheduler;
        this.readyVersions = readyVersions;
        @Nullable BatchingRule rule = definition.ruleInForce().orElse(null);
        maxRunSize = rule == null ? Integer.MAX_VALUE : rule.maxRunSize();
        submitter = new RequestSubmitter(
                config.getName(), scheduler, queueRules, resources.counters(), rule, resources.sequences() != null);
    }

    /**
     * Starts a version's instances and waits until they are warm. Owns the backend of {@code definition}, also on
     * failure. {@code counters} go on; {@code readyVersions} are of the same model, ascending. Throws when an instance
     * fails.
     */
    public static LoadedModel start(
            VersionDefinition definition,
            ExecutionResources shared,
            ModelCounters counters,
            Supplier<List<String>> readyVersions) {
        ModelConfig config = definition.config();
        @Nullable BatchingRule rule = definition.ruleInForce().orElse(null);
        SequenceModel sequences =
                SequenceModel.of(config, definition.states(), shared.runs().queueLimit());
        EntryPoints entryPoints = EntryPoints.of(
                definition,
                rule,
                sequences != null,
                ClientMemory.of(definition.backend(), shared.runs().trustsClients()));
        ModelSignature signature = entryPoints.signature();
        LoadingVersion loading = new LoadingVersion(config, definition.version(), signature, entryPoints.byName());
        WarmUp warmUp = new WarmUp(definition.warmUps(), loading, entryPoints.check());
        BatchingTrial trial = BatchingTrial.of(definition, loading, entryPoints.check(), shared.pool());
        InstanceResources resources = new InstanceResources(
                definition.backend(),
                signature,
                sequences,
                shared.pool(),
                warmUp,
                counters,
                shared.progress(),
                new FailedSenders(System::nanoTime),
                trial,
                new ModelTuning(shared.runs().learned()));
        ModelInstances instances = new ModelInstances(resources, shared.rateLimiter());
        try {
            QueueRules queueRules = QueueRules.of(config, shared.runs().queueLimit(), rule, resources.runsApart());
            ModelInstances.Change first = instances.toward(config);
            shared.progress().beginInstances(first.added().size());
            Scheduler<PendingInference> scheduler = sequences == null
                    ? Scheduler.open(queueRules.policy(), first.added(), resources.tuning())
                    : Scheduler.open(sequences.policy(), first.added());
            instances.apply(first);
            trial.reason().ifPresent(reason -> {
                scheduler.runAlone();
                LOG.info("Model '{}' version {}: {}", config.getName(), definition.version(), ALONE + reason);
            });
            return new LoadedModel(definition, entryPoints, resources, instances, scheduler, queueRules, readyVersions);
        } catch (RuntimeException | Error e) {
            definition.backend().close();
            throw e;
        }
    }

    /** A configuration without the batching that a trial has ruled out. */
    private static ModelConfig served(ModelConfig config, BatchingTrial trial) {
        return trial.reason().isPresent()
                ? config.toBuilder().clearDynamicBatching().build()
                : config;
    }

    /** Notes the hash of what responses depend on. */
    public void identify(byte[] newFingerprint) {
        fingerprint = Optional.of(newFingerprint);
    }

    /** Notes how much memory it is reckoned to take. */
    public void memoryByteSize(long byteSize) {
        memoryByteSize = byteSize;
    }

    @Override
    public long memoryByteSize() {
        return memoryByteSize;
    }

    @Override
    public Optional<byte[]> fingerprint() {
        return fingerprint;
    }

    @Override
    public boolean adjustInstances(ModelConfig next) {
        if (!ModelConfiguration.withoutInstances(next).equals(ModelConfiguration.withoutInstances(completed))) {
            return false;
        }
        ModelInstances.Change change = instances.toward(next);
        boolean exchanged = false;
        try {
            exchanged = scheduler.exchange(change.added(), change.removed());
        } finally {
            if (!exchanged) {
                instances.givenUp(change);
            }
        }
        if (!exchanged) {
            throw new VersionRetiredException();
        }
        instances.apply(change);
        completed = next;
        config = served(next, resources.trial());
        LOG.info("Model '{}' version {} runs on {} instances now", next.getName(), version, instances.count());
        return true;
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        if (signature.decoupled()) {
            throw RequestErrors.decoupled(config.getName());
        }
        long arrivedNanos = System.nanoTime();
        PendingInference pending = pending(request, arrivedNanos);
        if (pending.batchSize() > maxRunSize) {
            return inferInPieces(new SplitRequest(pending, maxRunSize), request, arrivedNanos);
        }
        submitter.complete(pending, request, arrivedNanos);
        InferenceResponse response = pending.response(config.getName(), versionText);
        if (request.mayRepeat() && pending.ranWhereSubmitted() && !pending.isStep()) {
            request.keep(pending);
        }
        return response;
    }

    /** The pending inference of a request: a new one, unless the request is asked again. */
    @SuppressWarnings("ReferenceEquality") // each loaded model has a signature of its own
    private PendingInference pending(InferenceRequest request, long arrivedNanos) {
        if (request.takeKept() instanceof PendingInference kept && kept.signature() == signature) {
            kept.renew(arrivedNanos);
            return kept;
        }
        return checked(request, arrivedNanos);
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        if (!signature.decoupled()) {
            receiver.accept(infer(request), true);
            return;
        }
        long arrivedNanos = System.nanoTime();
        PendingInference pending = checked(request, arrivedNanos);
        ResponseStream responses = new ResponseStream(receiver, RECEIVER_TIMEOUT);
        pending.respondTo(responses);
        try {
            submitter.complete(pending, request, arrivedNanos);
            responses.deliver();
        } finally {
            responses.abandon();
        }
        responses.check();
        pending.failure().ifPresent(failure -> {
            throw failure;
        });
    }

    /** Answers a request that is too large for one run; its pieces run side by side, as instances are free. */
    private InferenceResponse inferInPieces(SplitRequest split, InferenceRequest request, long arrivedNanos) {
        try {
            submitter.completeAll(split.pieces(), request, arrivedNanos);
            return split.response(resources.pool(), config.getName(), versionText);
        } catch (GatunException e) {
            throw request.afterRun(e);
        } finally {
            split.pieces().forEach(PendingInference::drop);
        }
    }

    private PendingInference checked(InferenceRequest request, long arrivedNanos) {
        try {
            PendingInference pending = entryPoints.check().pending(request, arrivedNanos);
            pending.runAloneIfIn(resources.failedSenders());
            SequenceModel sequences = resources.sequences();
            if (sequences != null) {
                pending.makeStepOf(sequences, sequences.step(request, pending.batchSize()));
            }
            return pending;
        } catch (GatunException e) {
            resources.counters().failed(FailureReason.OTHER, arrivedNanos);
            throw e;
        }
    }

    @Override
    public void loadTime(Duration time) {
        loadNanos = time.toNanos();
    }

    @Override
    public long activity() {
        return resources.counters().activity();
    }

    @Override
    public boolean isBusy() {
        return scheduler.pendingCount() > 0 || scheduler.busyCount() > 0;
    }

    @Override
    public ModelStatistics statistics() {
        ModelStatistics.Occupancy occupancy =
                new ModelStatistics.Occupancy(scheduler.pendingCount(), scheduler.busyCount());
        return resources.counters().snapshot(config.getName(), versionText, occupancy, loadNanos);
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
                config.getName(),
                versionText,
                signature.decoupled(),
                resources.counters().latencies(),
                Optional.empty(),
                bounds));
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
        @Nullable ModelUnloadEvent event = FlightRecording.unload(name(), versionText);
        boolean ended = scheduler.close(grace);
        if (ended && backendClosed.compareAndSet(false, true)) {
            try {
                resources.model().close();
            } catch (RuntimeException | Error e) {
                // One backend's fault is not to keep others from being closed.
                LOG.error("Model '{}' could not be closed in order", config.getName(), e);
            }
            FlightRecording.unloaded(event);
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
    public MemoryUse inputMemory(String input) {
        int index = signature.inputIndex(input, 0);
        return index < 0
                ? ServedModel.super.inputMemory(input)
                : signature.input(index).memory();
    }

    @Override
    public MemoryUse outputMemory(String output) {
        int index = signature.outputIndex(output, 0);
        return index < 0
                ? ServedModel.super.outputMemory(output)
                : signature.output(index).memory();
    }

    @Override
    public List<String> choices() {
        return Stream.concat(unbatched().stream(), resources.model().choices().stream())
                .toList();
    }

    @Override
    public List<LearnedChoice> learned() {
        return resources.tuning().choices();
    }

    @Override
    public RunCounts runCounts() {
        return scheduler.runCounts();
    }

    @Override
    public Optional<String> unbatched() {
        return resources.trial().reason().map(ALONE::concat);
    }

    @Override
    public Map<String, SignatureDef> signatures() {
        return entryPoints.described();
    }

    @Override
    public SequencedMap<String, EntryPoint> entryPoints() {
        return entryPoints.byName();
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    @Override
    public boolean decoupled() {
        return signature.decoupled();
    }

    @Override
    public boolean ready() {
        return !closing && unavailability().isEmpty();
    }

    @Override
    public Optional<String> unavailability() {
        return scheduler.isBroken()
                ? Optional.of(RequestSubmitter.BROKEN)
                : instances.failure().or(resources.model()::failure);
    }

    @Override
    public List<String> readyVersions() {
        return readyVersions.get();
    }
}
