// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.Activity;
import gatun.server.opentelemetry.TracedSpan.Event;
import io.opentelemetry.api.common.Attributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The outermost spans that a backend's activities begin and end, and the {@code events} outside of them. A span without
 * an end ends with what is in it.
 */
record BackendSpans(List<TracedSpan> spans, List<Event> events) {
    private static final String START = "_START";
    private static final String END = "_END";

    private record Open(String name, List<Event> events, List<TracedSpan> spans) {
        private static Open of(String name) {
            return new Open(name, new ArrayList<>(), new ArrayList<>());
        }

        private TracedSpan span() {
            return new TracedSpan(name, Optional.empty(), Attributes.empty(), List.copyOf(events), List.copyOf(spans));
        }
    }

    static BackendSpans of(RequestTrace trace) {
        Open outside = Open.of("");
        Deque<Open> open = new ArrayDeque<>(List.of(outside));
        trace.events().forEach(event -> {
            if (event instanceof Activity activity) {
                add(new Event(activity.name(), activity.nanos()), open);
            }
        });
        while (open.size() > 1) {
            close(open);
        }
        return new BackendSpans(outside.spans(), outside.events());
    }

    private static void add(Event event, Deque<Open> open) {
        String name = event.name();
        if (name.endsWith(START) && name.length() > START.length()) {
            open.push(Open.of(name.substring(0, name.length() - START.length())));
        }
        Open innermost = open.getFirst();
        innermost.events().add(event);
        if (open.size() > 1 && name.equals(innermost.name() + END)) {
            close(open);
        }
    }

    private static void close(Deque<Open> open) {
        TracedSpan ended = open.pop().span();
        open.getFirst().spans().add(ended);
    }
}
