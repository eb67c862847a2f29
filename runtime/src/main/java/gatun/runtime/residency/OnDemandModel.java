// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.residency;

import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.execution.LoadedModel;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.EntryPoint;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.SignatureDef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A model version in memory only while needed: loaded by the first request, closed when {@link ModelMemory} makes room
 * and nobody uses it. Its counters go on. One with sequences stays, since states would be lost. Thread-safe.
 */
public final class OnDemandModel implements ServedModel {
    private static final MemoryUse NOT_LOADED = MemoryUse.copied("the model was not loaded yet");

    private final ModelConfig config;
    private final long version;
    private final String versionText;
    private final Supplier<List<String>> readyVersions;
    private final ModelCounters counters = new ModelCounters();
    private final OnDemandModelState residence;

    /**
     * Not in memory; {@code config} is complete, {@code byteSize} that of the files. {@code opening} loads it each
     * time, or throws why not; {@code readyVersions} are of the same model, ascending. Throws RESOURCE_EXHAUSTED if too
     * large.
     */
    public OnDemandModel(
            ModelMemory memory,
            ModelConfig config,
            long version,
            long byteSize,
            Function<ModelCounters, LoadedModel> opening,
            Supplier<List<String>> readyVersions) {
        memory.requireFit(byteSize);
        this.config = config;
        this.version = version;
        this.readyVersions = readyVersions;
        versionText = Long.toString(version);
        residence = new OnDemandModelState(
                memory,
                "model '" + config.getName() + "' version " + versionText,
                byteSize,
                () -> opening.apply(counters),
                config.hasSequenceBatching());
    }

    /** Has it loaded now, if it is not. Throws GatunException with the reason why it cannot be. */
    public void load() {
        residence.enter();
        residence.leave();
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        LoadedModel model = residence.enter();
        try {
            return model.infer(request);
        } finally {
            residence.leave();
        }
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        LoadedModel model = residence.enter();
        try {
            model.infer(request, receiver);
        } finally {
            residence.leave();
        }
    }

    @Override
    public void drain() {
        residence.drain();
    }

    @Override
    public boolean close(Duration grace) {
        return residence.close(grace);
    }

    /** The version as it was loaded last, for what it tells about itself; loaded now if it never was. */
    private LoadedModel described() {
        LoadedModel known = residence.latest();
        if (known != null) {
            return known;
        }
        LoadedModel model = residence.enter();
        residence.leave();
        return model;
    }

    @Override
    public long activity() {
        return counters.activity();
    }

    @Override
    public boolean isBusy() {
        LoadedModel known = residence.latest();
        return known != null && known.isBusy();
    }

    @Override
    public ModelStatistics statistics() {
        LoadedModel known = residence.latest();
        return known == null
                ? counters.snapshot(name(), versionText, ModelStatistics.Occupancy.NONE, 0)
                : known.statistics();
    }

    @Override
    public Optional<ModelLatencies> latencies() {
        LoadedModel known = residence.latest();
        return known == null ? Optional.empty() : known.latencies();
    }

    @Override
    public void loadTime(Duration time) {
        // How long it took to find out that it can be loaded; each load notes its own.
    }

    @Override
    public long memoryByteSize() {
        return residence.isPresent() ? residence.byteSize() : 0;
    }

    @Override
    public Optional<byte[]> fingerprint() {
        return described().fingerprint();
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
        return described().inputs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return described().outputs();
    }

    @Override
    public SequencedMap<String, EntryPoint> entryPoints() {
        return described().entryPoints();
    }

    @Override
    public Map<String, SignatureDef> signatures() {
        return described().signatures();
    }

    @Override
    public List<String> labels(String output) {
        return described().labels(output);
    }

    @Override
    public List<LearnedChoice> learned() {
        LoadedModel known = residence.latest();
        return known == null ? List.of() : known.learned();
    }

    @Override
    public RunCounts runCounts() {
        LoadedModel known = residence.latest();
        return known == null ? RunCounts.NONE : known.runCounts();
    }

    @Override
    public List<String> choices() {
        LoadedModel known = residence.latest();
        return known == null ? List.of() : known.choices();
    }

    @Override
    public MemoryUse inputMemory(String input) {
        LoadedModel known = residence.latest();
        return known == null ? NOT_LOADED : known.inputMemory(input);
    }

    @Override
    public MemoryUse outputMemory(String output) {
        LoadedModel known = residence.latest();
        return known == null ? NOT_LOADED : known.outputMemory(output);
    }

    @Override
    public Optional<String> unbatched() {
        LoadedModel known = residence.latest();
        return known == null ? Optional.empty() : known.unbatched();
    }

    @Override
    public ModelConfig config() {
        LoadedModel known = residence.latest();
        return known == null ? config : known.config();
    }

    @Override
    public boolean ready() {
        return !residence.isClosing() && unavailability().isEmpty();
    }

    @Override
    public Optional<String> unavailability() {
        LoadedModel known = residence.latest();
        Optional<String> failure = residence.failure();
        return failure.isPresent() || known == null ? failure : known.unavailability();
    }

    @Override
    public List<String> readyVersions() {
        return readyVersions.get();
    }
}
