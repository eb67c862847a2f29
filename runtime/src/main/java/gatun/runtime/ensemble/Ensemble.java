// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ComputeTimes;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.cache.ModelFingerprint;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.ensemble.EnsemblePlan.MemberFit;
import gatun.runtime.events.FlightRecording;
import gatun.runtime.events.ModelLoadEvent.ModelUnloadEvent;
import gatun.runtime.execution.ComposedRequests;
import gatun.runtime.execution.ComposedResponse;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model made of other models. A step runs as soon as its inputs are there, beside others that can run too; its
 * outputs go to the next steps without a copy. Members are looked up for each request, so that one that was reloaded is
 * used at once. Safe for any thread.
 */
public final class Ensemble implements ServedModel {
    private static final Logger LOG = LoggerFactory.getLogger(Ensemble.class);

    private final ModelConfig config;
    private final long version;
    private final String versionText;
    private final EnsemblePlan plan;
    private final ResponseStreams streams;
    private final MemberModels members;
    private final MemberFit fit;
    private final ComposedRequests requests;
    private final Supplier<List<String>> readyVersions;
    private final StepLimits limits;
    private final EnsembleCounters counters = new EnsembleCounters();
    private final EnsembleRequests running = new EnsembleRequests();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile long loadNanos;

    private Ensemble(
            ModelConfig config,
            long version,
            EnsemblePlan plan,
            ResponseStreams streams,
            MemberFit fit,
            ComposedRequests requests,
            Supplier<List<String>> readyVersions) {
        this.config = config;
        this.streams = streams;
        this.version = version;
        this.versionText = Long.toString(version);
        this.plan = plan;
        this.members = fit.members();
        this.fit = fit;
        this.requests = requests;
        this.readyVersions = readyVersions;
        limits = new StepLimits(plan.steps().size(), ResponseStreams.inflightLimit(config));
    }

    /**
     * The ensemble of a checked configuration, with members already loaded. {@code labels} are lines of its own label
     * files by output name, else the making member's; {@code readyVersions} are of the same model, ascending. Throws
     * UNAVAILABLE when a member cannot answer, INVALID_ARGUMENT when the members do not fit together.
     */
    public static Ensemble open(
            ModelConfig config,
            long version,
            Map<String, List<String>> labels,
            MemberModels members,
            BufferPool pool,
            Supplier<List<String>> readyVersions) {
        EnsemblePlan plan = EnsemblePlan.of(config);
        unavailability(config.getName(), plan, members).ifPresent(reason -> {
            throw new GatunException(ErrorCode.UNAVAILABLE, reason);
        });
        List<ServedModel> asked = plan.steps().stream()
                .map(step -> members.member(step.model(), step.version()))
                .toList();
        MemberRules.check(config, asked.stream().map(ServedModel::config).toList());
        MemberFit fit = new MemberFit(config, plan, members, asked);
        boolean[] decoupled = new boolean[asked.size()];
        for (int i = 0; i < decoupled.length; i++) {
            decoupled[i] = asked.get(i).decoupled();
        }
        ResponseStreams streams = ResponseStreams.of(config, plan, decoupled);
        if (streams.any() && config.getResponseCache().getEnable()) {
            throw GatunException.invalidArgument("Response Cache does not currently support model " + config.getName()
                    + " with 'decoupled' transaction policy. Please disable the response cache.");
        }
        int inflightLimit = ResponseStreams.inflightLimit(config);
        if (inflightLimit > 0) {
            LOG.info("Ensemble model '{}' configured with max_inflight_requests: {}", config.getName(), inflightLimit);
        }
        ModelConfig completed = withDecoupled(config, streams.any());
        ComposedRequests requests = new ComposedRequests(completed, allLabels(config, plan, labels, asked), pool);
        return new Ensemble(completed, version, plan, streams, fit, requests, readyVersions);
    }

    /** The same configuration with the policy of its members: decoupled where one of them is. */
    private static ModelConfig withDecoupled(ModelConfig config, boolean decoupled) {
        ModelConfig.Builder completed = config.toBuilder();
        completed.getModelTransactionPolicyBuilder().setDecoupled(decoupled);
        return completed.build();
    }

    private static Map<String, List<String>> allLabels(
            ModelConfig config, EnsemblePlan plan, Map<String, List<String>> own, List<ServedModel> members) {
        Map<String, List<String>> all = new HashMap<>(own);
        for (int i = 0; i < config.getOutputCount(); i++) {
            int tensor = plan.output(i);
            int producer = plan.producer(tensor);
            if (producer != EnsemblePlan.FROM_REQUEST) {
                for (EnsembleStep.MappedTensor mapped :
                        plan.steps().get(producer).outputs()) {
                    if (mapped.tensor() == tensor) {
                        all.putIfAbsent(
                                config.getOutput(i).getName(),
                                members.get(producer).labels(mapped.name()));
                    }
                }
            }
        }
        return all;
    }

    private static Optional<String> unavailability(String ensemble, EnsemblePlan plan, MemberModels members) {
        for (EnsembleStep step : plan.steps()) {
            Optional<String> missing = members.missing(ensemble, step.model(), step.version());
            if (missing.isPresent()) {
                return missing;
            }
        }
        return Optional.empty();
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        if (decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "model '" + config.getName() + "' is decoupled: it may give any number of responses,"
                            + " and this request asks for exactly one");
        }
        return answer(request, EnsembleRun::answer);
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        if (!decoupled()) {
            receiver.accept(infer(request), true);
            return;
        }
        answer(request, run -> {
            run.answer(receiver);
            return true;
        });
    }

    private <T> T answer(InferenceRequest request, Function<EnsembleRun, T> how) {
        long arrivedNanos = System.nanoTime();
        EnsembleRun run = null;
        try {
            if (!running.enter()) {
                throw new VersionRetiredException();
            }
            try {
                ComposedResponse response = requests.answer(request, arrivedNanos);
                request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
                run = new EnsembleRun(this, request, response);
                if (!request.cancellation().arm(run::cancel)) {
                    throw new GatunException(ErrorCode.CANCELLED, "");
                }
                T answered;
                try {
                    answered = how.apply(run);
                } finally {
                    request.cancellation().end();
                }
                ComputeTimes times = run.times();
                counters.answered(response.batchSize(), request.origin(), arrivedNanos, run.firstNanos(), times);
                request.computed(times.queueNanos(), times.inputNanos(), times.inferNanos(), times.outputNanos());
                request.ranWith(times.largestBatch());
                return answered;
            } finally {
                running.leave();
            }
        } catch (GatunException e) {
            boolean canceled = e.code() == ErrorCode.CANCELLED && e.getMessage().isEmpty();
            counters.failed(run == null ? 0 : run.failedMembers(), canceled, arrivedNanos);
            throw request.afterRun(e);
        }
    }

    EnsemblePlan plan() {
        return plan;
    }

    ResponseStreams streams() {
        return streams;
    }

    StepLimits limits() {
        return limits;
    }

    MemberModels members() {
        return members;
    }

    /** Whether a step must be taken in before the client's next request: first steps, and those of sequences. */
    boolean isEnteredInOrder(EnsembleStep step) {
        return plan.isFirst(step) || fit.keepsSequences(step.index());
    }

    boolean batching() {
        return config.getMaxBatchSize() > 0;
    }

    @Override
    public long activity() {
        return counters.activity();
    }

    @Override
    public boolean isBusy() {
        return false;
    }

    @Override
    public ModelStatistics statistics() {
        return counters.snapshot(config.getName(), versionText, loadNanos);
    }

    @Override
    public Optional<ModelLatencies> latencies() {
        return Optional.of(new ModelLatencies(
                config.getName(), versionText, decoupled(), counters.latencies(), Optional.empty(), Map.of()));
    }

    @Override
    public void loadTime(Duration time) {
        loadNanos = time.toNanos();
    }

    @Override
    public List<String> labels(String output) {
        return requests.labels(output);
    }

    @Override
    public MemoryUse inputMemory(String input) {
        return new MemberMemory(plan, members).input(input);
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return new MemberMemory(plan, members).output(output);
    }

    @Override
    public List<String> dependencies() {
        return plan.members();
    }

    @Override
    public boolean keepsSequences() {
        return plan.steps().stream().anyMatch(step -> fit.keepsSequences(step.index()));
    }

    @Override
    public List<ServedModel> sources() {
        List<ServedModel> sources = new ArrayList<>();
        for (EnsembleStep step : plan.steps()) {
            try {
                sources.addAll(members.member(step.model(), step.version()).sources());
            } catch (GatunException unavailable) {
                return List.of(); // and no response, as long as that lasts
            }
        }
        return sources;
    }

    @Override
    public Optional<byte[]> fingerprint() {
        List<byte[]> fingerprints = new ArrayList<>();
        for (EnsembleStep step : plan.steps()) {
            try {
                members.member(step.model(), step.version()).fingerprint().ifPresent(fingerprints::add);
            } catch (GatunException unavailable) {
                return Optional.empty();
            }
        }
        return fingerprints.size() == plan.steps().size()
                ? Optional.of(ModelFingerprint.of(config, fingerprints))
                : Optional.empty();
    }

    @Override
    public boolean outdated() {
        return fit.outdated();
    }

    @Override
    public Optional<String> unavailability() {
        Optional<String> missing = unavailability(config.getName(), plan, members);
        return missing.isPresent() ? missing : fit.misfit();
    }

    @Override
    public void drain() {
        running.close(Duration.ZERO);
    }

    @Override
    public boolean close(Duration grace) {
        @Nullable ModelUnloadEvent event = FlightRecording.unload(name(), versionText());
        boolean ended = running.close(grace);
        if (ended && closed.compareAndSet(false, true)) {
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
        return requests.inputs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return requests.outputs();
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    @Override
    public boolean ready() {
        return !running.isClosing() && unavailability().isEmpty();
    }

    @Override
    public List<String> readyVersions() {
        return readyVersions.get();
    }
}
