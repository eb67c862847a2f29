// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import io.opentelemetry.sdk.trace.IdGenerator;
import java.util.Optional;

/** The numbers of spans: announced ones for this thread's next span, else random. Thread-safe. */
final class ChosenIds implements IdGenerator {
    private final IdGenerator random = IdGenerator.random();
    private final ThreadLocal<String> trace = new ThreadLocal<>();
    private final ThreadLocal<String> span = new ThreadLocal<>();

    /** Chooses the number of the trace that the next span without a parent begins; empty for a random one. */
    void nextTrace(Optional<String> id) {
        id.ifPresentOrElse(trace::set, trace::remove);
    }

    /** Chooses the number of the next span; empty for a random one. */
    void nextSpan(Optional<String> id) {
        id.ifPresentOrElse(span::set, span::remove);
    }

    @Override
    public String generateTraceId() {
        String chosen = trace.get();
        return chosen == null ? random.generateTraceId() : chosen;
    }

    @Override
    public String generateSpanId() {
        String chosen = span.get();
        return chosen == null ? random.generateSpanId() : chosen;
    }
}
