// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.wire.v1.StatDuration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts the requests that are no inferences and were answered. Safe for any thread. */
public final class ControlCounters {
    /** The kind of a request. */
    public enum Kind {
        /** Status of the server and its models. */
        STATUS,
        /** Whether the server is live or ready. */
        HEALTH,
        /** Loading or unloading a model. */
        MODEL_CONTROL,
        /** The models of the repository. */
        REPOSITORY
    }

    private record Counter(LongAdder count, LongAdder nanos) {}

    private final Map<Kind, Counter> counters = new EnumMap<>(Kind.class);

    ControlCounters() {
        for (Kind kind : Kind.values()) {
            counters.put(kind, new Counter(new LongAdder(), new LongAdder()));
        }
    }

    /** Counts a request that began at a reading of {@link System#nanoTime} and is answered now. */
    public void answered(Kind kind, long beganNanos) {
        Counter counter = counter(kind);
        counter.nanos.add(System.nanoTime() - beganNanos);
        counter.count.increment();
    }

    StatDuration of(Kind kind) {
        Counter counter = counter(kind);
        return StatDuration.newBuilder()
                .setCount(counter.count.sum())
                .setTotalTimeNs(counter.nanos.sum())
                .build();
    }

    private Counter counter(Kind kind) {
        return Objects.requireNonNull(counters.get(kind));
    }
}
