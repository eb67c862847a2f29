package gatun.runtime.statistics;

import gatun.runtime.ModelStatistics;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** What a model version has counted since it was loaded. Safe for any thread. */
public final class ModelCounters {
    private final List<InstanceCounters> instances;
    // Failures come from request threads, of which there are many, and are rare.
    private final Map<FailureReason, LongAdder> failures = new EnumMap<>(FailureReason.class);

    /** Counters of a model version whose instances count in {@code instances}. */
    public ModelCounters(List<InstanceCounters> instances) {
        this.instances = List.copyOf(instances);
        for (FailureReason reason : FailureReason.values()) {
            failures.put(reason, new LongAdder());
        }
    }

    /** Counts a request that was not answered. */
    public void failed(FailureReason reason) {
        counter(reason).increment();
    }

    /** All counters as they are now. */
    public ModelStatistics snapshot(String name, String version, long pendingRequestCount, long loadNanos) {
        return new ModelStatistics(
                name,
                version,
                sum(InstanceCounters::successes),
                failures(FailureReason.REJECTED),
                failures(FailureReason.CANCELED),
                failures(FailureReason.BACKEND),
                failures(FailureReason.OTHER),
                sum(InstanceCounters::inferences),
                sum(InstanceCounters::executions),
                sum(InstanceCounters::requestNanos),
                sum(InstanceCounters::queueNanos),
                sum(InstanceCounters::inputNanos),
                sum(InstanceCounters::inferNanos),
                sum(InstanceCounters::outputNanos),
                pendingRequestCount,
                loadNanos);
    }

    private long sum(ToLongFunction<InstanceCounters> counter) {
        return instances.stream().mapToLong(counter).sum();
    }

    private long failures(FailureReason reason) {
        return counter(reason).sum();
    }

    private LongAdder counter(FailureReason reason) {
        return Objects.requireNonNull(failures.get(reason));
    }
}
