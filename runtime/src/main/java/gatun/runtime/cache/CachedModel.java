// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.ComposedRequests;
import gatun.runtime.execution.ComposedResponse;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import gatun.spi.EntryPoint;
import gatun.spi.MemoryUse;
import gatun.spi.ParameterValue;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A model whose responses are cached. Requests to a version are equal when they want the same outputs and their inputs
 * agree in name, datatype, shape and bytes, as do the parameters that a backend sees. Keeps whole outputs, in memory
 * that no client can reach, made of inputs that no client could change meanwhile: regions and classification concern
 * only their request. Only the model's first entry point is cached. Thread-safe.
 */
public final class CachedModel implements ServedModel {
    private static final MemoryUse CACHED =
            MemoryUse.copied("responses are cached: what is compared is what runs, and no client can change it");

    private final ServedModel model;

    /** Whether the only parameters of responses are those of the request's place in a sequence. */
    private final boolean ensemble;

    private final ResponseCache cache;
    private final BufferPool pool;
    private final ComposedRequests requests;
    private final String firstEntryPoint;
    private final CacheCounters counters = new CacheCounters();
    private final ReentrantLock replacing = new ReentrantLock(); // held to replace the generation
    private volatile Generation generation;

    /** Responses that are equal for equal requests as long as {@code sources}, the models on backends, are the same. */
    private record Generation(List<ServedModel> sources, CachedResponses responses) {}

    private CachedModel(ServedModel model, ResponseCache cache, BufferPool pool) {
        this.model = model;
        this.ensemble = model.config().hasEnsembleScheduling();
        this.cache = cache;
        this.pool = pool;
        Map<String, List<String>> labels = new HashMap<>();
        for (ModelOutput output : model.config().getOutputList()) {
            labels.put(output.getName(), model.labels(output.getName()));
        }
        requests = ComposedRequests.of(model, labels, pool);
        firstEntryPoint = model.entryPoints().firstEntry().getKey();
        generation = new Generation(model.sources(), cache.responses(model));
    }

    /**
     * {@code model} with its responses in {@code cache} where its configuration wants that, else {@code model} itself.
     * Owns the model, not the cache; {@code pool} lends memory for outputs that must be copied.
     */
    public static ServedModel of(ServedModel model, ResponseCache cache, BufferPool pool) {
        boolean wanted = model.config().getResponseCache().getEnable() && !model.decoupled();
        return wanted ? new CachedModel(model, cache, pool) : model;
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        if (!request.entryPoint().isEmpty() && !request.entryPoint().equals(firstEntryPoint)) {
            return model.infer(request);
        }
        long arrivedNanos = System.nanoTime();
        ComposedResponse answer;
        try {
            answer = requests.answer(request, arrivedNanos);
        } catch (GatunException wrong) {
            return model.infer(request); // says the same, and counts it
        }
        List<Hold> copies = new ArrayList<>();
        try {
            List<Tensor> inputs = privateInputs(request, copies, arrivedNanos);
            return infer(request, answer, inputs, copies, arrivedNanos);
        } finally {
            copies.forEach(Hold::close);
        }
    }

    private InferenceResponse infer(
            InferenceRequest request,
            ComposedResponse answer,
            List<Tensor> inputs,
            List<Hold> copies,
            long arrivedNanos) {
        Generation now = generation();
        CachedResponses.Entry entry = now.responses().entry(inputs, request.parameters(), answer);
        Optional<CachedResponses.Found> found = model.ready() ? entry.find() : Optional.empty();
        if (found.isPresent()) {
            InferenceResponse response = respond(
                    answer,
                    found.get().outputs(),
                    Map.of(),
                    new SharedHolds(List.of(found.get().claim())),
                    arrivedNanos);
            counters.hit(arrivedNanos);
            return response;
        }
        long askedNanos = System.nanoTime();
        InferenceResponse response = ask(request, answer, inputs, copies);
        SharedHolds memory = new SharedHolds(List.of(response));
        long answeredNanos = System.nanoTime();
        List<Tensor> outputs =
                response.outputs().stream().map(OutputTensor::tensor).toList();
        // A member that was replaced meanwhile may have had a part in it or not.
        boolean whole = outputs.size() == answer.outputCount();
        if (whole
                && (ensemble || response.parameters().isEmpty())
                && generation().equals(now)) {
            entry.put(outputs);
        }
        counters.miss(askedNanos - arrivedNanos + System.nanoTime() - answeredNanos);
        return respond(answer, outputs, response.parameters(), memory, arrivedNanos);
    }

    private Generation generation() {
        Generation last = generation;
        List<ServedModel> sources = model.sources();
        if (last.sources().equals(sources)) {
            return last;
        }
        Generation next = new Generation(sources, cache.responses(model));
        replacing.lock();
        try {
            last = generation;
            if (last.sources().equals(sources)) {
                return last;
            }
            generation = next;
        } finally {
            replacing.unlock();
        }
        last.responses().drop();
        return next;
    }

    /** The inputs, with copies of those that a client could change during the run; owned by the caller. */
    private List<Tensor> privateInputs(InferenceRequest request, List<Hold> copies, long arrivedNanos) {
        List<RegionLease> regions = new ArrayList<>();
        for (Hold hold : request.holds()) {
            if (hold instanceof RegionLease lease) {
                regions.add(lease);
            }
        }
        if (regions.isEmpty()) {
            return request.inputs();
        }
        List<Tensor> inputs = new ArrayList<>();
        for (Tensor input : request.inputs()) {
            if (regions.stream().anyMatch(input::liesIn)) {
                Buffer copy = copy(input, arrivedNanos);
                copies.add(copy);
                inputs.add(new Tensor(input.spec(), copy.segment()));
            } else {
                inputs.add(input);
            }
        }
        return inputs;
    }

    private Buffer copy(Tensor input, long arrivedNanos) {
        try {
            return pool.copyOf(input.bytes());
        } catch (GatunException noRoom) {
            counters.failed(arrivedNanos);
            throw noRoom;
        }
    }

    /** Answers with the plain outputs, in the server's memory; its request takes over the inputs' holds. */
    private InferenceResponse ask(
            InferenceRequest request, ComposedResponse answer, List<Tensor> inputs, List<Hold> copies) {
        try (InferenceRequest plain = request.onBehalf(model)) {
            inputs.forEach(plain::addInput);
            copies.forEach(plain::hold);
            copies.clear();
            move(request, plain);
            for (int i = 0; i < answer.outputCount(); i++) {
                plain.addOutput(RequestedOutput.of(answer.outputName(i)));
            }
            if (!request.cancellation().arm(plain.cancellation()::cancel)) {
                plain.cancellation().cancel();
            }
            try {
                return model.infer(plain);
            } catch (GatunException e) {
                move(plain, request); // whoever asks another model instead still needs the inputs
                throw e;
            } finally {
                request.cancellation().end();
            }
        }
    }

    /** Moves the holds that keep the inputs valid, but for regions, which the client's request has to settle. */
    private static void move(InferenceRequest from, InferenceRequest to) {
        for (Hold hold : List.copyOf(from.holds())) {
            if (!(hold instanceof RegionLease) && from.release(hold)) {
                to.hold(hold);
            }
        }
    }

    /** Responds with those of {@code outputs} that are wanted, and gives up the caller's share of {@code memory}. */
    private InferenceResponse respond(
            ComposedResponse answer,
            List<Tensor> outputs,
            Map<String, ParameterValue> parameters,
            SharedHolds memory,
            long arrivedNanos) {
        try {
            for (int i = 0; i < answer.outputCount(); i++) {
                Tensor output = named(outputs, answer.outputName(i));
                if (output != null) {
                    answer.output(i, output, memory.share());
                } else {
                    answer.leaveOut(i); // as the model did
                }
            }
            if (ensemble) {
                answer.tellSequence();
            } else {
                parameters.forEach(answer::parameter);
            }
            return answer.response(model.name(), model.versionText());
        } catch (GatunException e) {
            answer.fail(e);
            counters.failed(arrivedNanos);
            throw e;
        } finally {
            memory.release();
        }
    }

    private static @Nullable Tensor named(List<Tensor> outputs, String name) {
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i).spec().name().equals(name)) {
                return outputs.get(i);
            }
        }
        return null;
    }

    @Override
    public long activity() {
        return model.activity() + counters.activity();
    }

    @Override
    public boolean isBusy() {
        return model.isBusy();
    }

    @Override
    public ModelStatistics statistics() {
        return counters.with(model.statistics());
    }

    @Override
    public Optional<ModelLatencies> latencies() {
        return model.latencies().map(latencies -> latencies.withCache(counters.latencies()));
    }

    @Override
    public void loadTime(Duration time) {
        model.loadTime(time);
    }

    @Override
    public List<String> labels(String output) {
        return model.labels(output);
    }

    @Override
    public List<String> dependencies() {
        return model.dependencies();
    }

    @Override
    public List<ServedModel> sources() {
        return model.sources();
    }

    @Override
    public long memoryByteSize() {
        return model.memoryByteSize();
    }

    @Override
    public Optional<byte[]> fingerprint() {
        return model.fingerprint();
    }

    @Override
    public boolean outdated() {
        return model.outdated();
    }

    @Override
    public boolean keepsSequences() {
        return model.keepsSequences();
    }

    @Override
    public Optional<String> unavailability() {
        return model.unavailability();
    }

    @Override
    public void drain() {
        model.drain();
    }

    @Override
    public boolean close(Duration grace) {
        boolean ended = model.close(grace);
        generation.responses().drop();
        return ended;
    }

    @Override
    public long version() {
        return model.version();
    }

    @Override
    public String versionText() {
        return model.versionText();
    }

    @Override
    public List<TensorSpec> inputs() {
        return model.inputs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return model.outputs();
    }

    @Override
    public boolean adjustInstances(ModelConfig config) {
        return model.adjustInstances(config);
    }

    @Override
    public MemoryUse inputMemory(String input) {
        return CACHED;
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return CACHED;
    }

    @Override
    public List<LearnedChoice> learned() {
        return model.learned();
    }

    @Override
    public RunCounts runCounts() {
        return model.runCounts();
    }

    @Override
    public List<String> choices() {
        return model.choices();
    }

    @Override
    public Optional<String> unbatched() {
        return model.unbatched();
    }

    @Override
    public SequencedMap<String, EntryPoint> entryPoints() {
        return model.entryPoints();
    }

    @Override
    public ModelConfig config() {
        return model.config();
    }

    @Override
    public boolean ready() {
        return model.ready();
    }

    @Override
    public List<String> readyVersions() {
        return model.readyVersions();
    }
}
