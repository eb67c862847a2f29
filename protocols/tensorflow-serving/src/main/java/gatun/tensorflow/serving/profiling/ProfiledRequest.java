// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.Timestamp;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a request to a model did, in readings of {@link System#nanoTime}: the {@code whole} from the server's taking it
 * over to its response or failure, and the {@code parts} within that in order.
 */
record ProfiledRequest(String model, long version, Span whole, List<Span> parts) {
    private static final Comparator<Timestamp> BY_TIME =
            Comparator.comparingLong(Timestamp::nanos).thenComparing(Timestamp::stage);

    /** What a span of time is spent with. */
    enum Kind {
        REQUEST(1, "request"),
        QUEUE(2, "queue"),
        COMPUTE_INPUT(3, "compute_input"),
        COMPUTE_INFER(4, "compute_infer"),
        COMPUTE_OUTPUT(5, "compute_output");

        private final long wireId;
        private final String wireName;

        Kind(long wireId, String wireName) {
            this.wireId = wireId;
            this.wireName = wireName;
        }

        long wireId() {
            return wireId;
        }

        String wireName() {
            return wireName;
        }

        /** The kind of time between two stages that followed each other; null when it is not reported. */
        private static @Nullable Kind between(TraceStage from, TraceStage to) {
            if (from == TraceStage.QUEUE_START && to == TraceStage.COMPUTE_START) {
                return QUEUE;
            }
            if (from == TraceStage.COMPUTE_START && to == TraceStage.COMPUTE_INPUT_END) {
                return COMPUTE_INPUT;
            }
            if (from == TraceStage.COMPUTE_INPUT_END && to == TraceStage.COMPUTE_OUTPUT_START) {
                return COMPUTE_INFER;
            }
            return from == TraceStage.COMPUTE_OUTPUT_START && to == TraceStage.COMPUTE_END ? COMPUTE_OUTPUT : null;
        }
    }

    /** A span of time; never ends before it starts. */
    record Span(Kind kind, long startNanos, long endNanos) {}

    /** What a trace tells of its own request; empty when the server has not taken the request over and ended it. */
    static Optional<ProfiledRequest> of(RequestTrace trace) {
        List<Timestamp> times = trace.timestamps().stream().sorted(BY_TIME).toList();
        Timestamp start = null;
        Timestamp end = null;
        for (Timestamp time : times) {
            if (time.stage() == TraceStage.REQUEST_START && start == null) {
                start = time;
            } else if (time.stage() == TraceStage.REQUEST_END) {
                end = time;
            }
        }
        if (start == null || end == null || end.nanos() < start.nanos()) {
            return Optional.empty();
        }
        Span whole = new Span(Kind.REQUEST, start.nanos(), end.nanos());
        return Optional.of(
                new ProfiledRequest(trace.modelName(), trace.modelVersion(), whole, parts(whole, inner(times))));
    }

    /** The stages between the request's start and end, without those of the protocols. */
    private static List<Timestamp> inner(List<Timestamp> times) {
        return times.stream()
                .filter(time -> switch (time.stage()) {
                    case QUEUE_START, COMPUTE_START, COMPUTE_INPUT_END, COMPUTE_OUTPUT_START, COMPUTE_END -> true;
                    default -> false;
                })
                .toList();
    }

    private static List<Span> parts(Span whole, List<Timestamp> times) {
        List<Span> parts = new ArrayList<>();
        for (int i = 1; i < times.size(); i++) {
            Timestamp from = times.get(i - 1);
            Timestamp to = times.get(i);
            Kind kind = Kind.between(from.stage(), to.stage());
            // The client may have its response before its run is over.
            long endNanos = Math.min(to.nanos(), whole.endNanos());
            if (kind != null && from.nanos() >= whole.startNanos() && from.nanos() <= endNanos) {
                parts.add(new Span(kind, from.nanos(), endNanos));
            }
        }
        return List.copyOf(parts);
    }

    int eventCount() {
        return 1 + parts.size();
    }
}
