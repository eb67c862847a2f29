// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.StatisticDuration;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The meters of a model's version, from its last statistics: timers {@code gatun.requests} (by {@code outcome}), {@code
 * gatun.queue} and {@code gatun.compute}, counters {@code gatun.inferences} (items) and {@code gatun.executions}
 * (batches). Thread-safe.
 */
final class VersionMeters {
    private final MeterRegistry registry;
    private final List<Meter> meters = new ArrayList<>();
    private volatile ModelStatistics last = ModelStatistics.getDefaultInstance();

    VersionMeters(MeterRegistry registry, String model, String version) {
        this.registry = registry;
        Tags tags = Tags.of("model", model, "version", version);
        timer("gatun.requests", tags.and("outcome", "success"), InferStatistics::getSuccess);
        timer("gatun.requests", tags.and("outcome", "failure"), InferStatistics::getFail);
        timer("gatun.queue", tags, InferStatistics::getQueue);
        timer("gatun.compute", tags, InferStatistics::getComputeInfer);
        counter("gatun.inferences", tags, ModelStatistics::getInferenceCount);
        counter("gatun.executions", tags, ModelStatistics::getExecutionCount);
    }

    /** Shows these from now on. */
    void take(ModelStatistics statistics) {
        last = statistics;
    }

    void remove() {
        meters.forEach(registry::remove);
    }

    private void timer(String name, Tags tags, Function<InferStatistics, StatisticDuration> part) {
        meters.add(FunctionTimer.builder(
                        name,
                        this,
                        it -> part.apply(it.last.getInferenceStats()).getCount(),
                        it -> part.apply(it.last.getInferenceStats()).getNs(),
                        TimeUnit.NANOSECONDS)
                .tags(tags)
                .register(registry));
    }

    private void counter(String name, Tags tags, ToDoubleFunction<ModelStatistics> value) {
        meters.add(FunctionCounter.builder(name, this, it -> value.applyAsDouble(it.last))
                .tags(tags)
                .register(registry));
    }
}
