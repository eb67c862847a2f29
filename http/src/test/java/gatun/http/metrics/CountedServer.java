// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.memory.buffers.BufferPool;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.GatunException;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.Tracing;
import java.util.List;
import java.util.Optional;

/** A server that has counters and a buffer pool, and is asked for nothing else. */
final class CountedServer implements InferenceServer {
    private final HeapBudget heap = new HeapBudget(1 << 20);
    private final Tracing tracing = Tracing.off();
    private final BufferPool buffers = new BufferPool(1 << 20);
    private final List<ModelStatistics> statistics;
    private List<ModelLatencies> latencies = List.of();
    private MetricSource modelMetrics = sink -> {};
    private Optional<ModelMemoryUse> modelMemory = Optional.empty();
    private AccessLog accessLog = AccessLog.OFF;
    private Optional<ModelVersion> version = Optional.empty();

    CountedServer(ModelStatistics... statistics) {
        this.statistics = List.of(statistics);
    }

    @Override
    public List<ModelStatistics> statistics() {
        return statistics;
    }

    @Override
    public boolean exiting() {
        return false;
    }

    CountedServer withLatencies(ModelLatencies... models) {
        latencies = List.of(models);
        return this;
    }

    @Override
    public List<ModelLatencies> latencies() {
        return latencies;
    }

    CountedServer withModelMetrics(MetricSource families) {
        modelMetrics = families;
        return this;
    }

    @Override
    public MetricSource modelMetrics() {
        return modelMetrics;
    }

    CountedServer withModelMemory(ModelMemoryUse use) {
        modelMemory = Optional.of(use);
        return this;
    }

    @Override
    public Optional<ModelMemoryUse> modelMemory() {
        return modelMemory;
    }

    CountedServer withAccessLog(AccessLog log) {
        accessLog = log;
        return this;
    }

    @Override
    public AccessLog accessLog() {
        return accessLog;
    }

    /** Has {@code model} be ready as each version that is counted. */
    CountedServer withVersion(ModelVersion model) {
        version = Optional.of(model);
        return this;
    }

    @Override
    public List<EngineStatistics> engines() {
        return List.of(new EngineStatistics("onnxruntime", 12));
    }

    @Override
    public HeapBudget heap() {
        return heap;
    }

    @Override
    public BufferPool buffers() {
        return buffers;
    }

    @Override
    public void close() {
        buffers.close();
    }

    @Override
    public ServerMetadata metadata() {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public Tracing tracing() {
        return tracing;
    }

    @Override
    public boolean live() {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public boolean ready() {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public ModelVersion model(String name, String version) {
        return this.version.orElseThrow(() -> GatunException.invalidArgument("unloaded since it was counted"));
    }

    @Override
    public List<ModelStatus> index() {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public void load(String name, ModelOverride override) {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public void unload(String name, boolean dependents) {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public Subscription onChange(Runnable listener) {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        throw new AssertionError("the metrics page has no use for this");
    }

    @Override
    public RegionRegistry regions() {
        throw new AssertionError("the metrics page has no use for this");
    }
}
