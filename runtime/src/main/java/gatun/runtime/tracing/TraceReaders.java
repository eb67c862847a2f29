// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who gets a trace.
 *
 * @param scope the settings for the request
 * @param exported whether these, or the client, want the trace exported
 * @param observer sees the trace whatever the settings say; null for nobody
 */
record TraceReaders(
        TraceScope scope, boolean exported, @Nullable Consumer<RequestTrace> observer) {
    /** The details that are exported. */
    Set<TraceLevel> levels() {
        return exported ? scope.settings().levels() : Set.of();
    }
}
