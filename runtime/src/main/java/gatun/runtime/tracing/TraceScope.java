// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.runtime.tracing.TraceSettings.TraceLevel;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Trace settings of some models, and which requests they choose. Immutable. Thread-safe. */
final class TraceScope {
    private final TraceSettings settings;
    private final AtomicLong seen = new AtomicLong();
    private final AtomicLong remaining;

    TraceScope(TraceSettings settings) {
        this.settings = settings;
        this.remaining = new AtomicLong(settings.count());
    }

    TraceSettings settings() {
        return settings;
    }

    TraceSettings present() {
        return new TraceSettings(settings.levels(), settings.rate(), remaining.get(), settings.logFrequency());
    }

    boolean choosesNext() {
        if (!settings.tellsAnything() || settings.rate() == 0 || seen.incrementAndGet() % settings.rate() != 0) {
            return false;
        }
        return settings.count() == TraceSettings.UNLIMITED || remaining.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }

    /** The readers of a trace; {@code observer} sees it whatever the settings say, null for nobody. */
    record TraceReaders(
            TraceScope scope, boolean exported, @Nullable Consumer<RequestTrace> observer) {
        Set<TraceLevel> levels() {
            return exported ? scope.settings().levels() : Set.of();
        }
    }
}
