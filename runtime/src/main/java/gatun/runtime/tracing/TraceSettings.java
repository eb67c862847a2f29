// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import java.util.Set;

/**
 * Which requests are traced.
 *
 * @param levels the details in their traces; none when no request is traced
 * @param rate one of this many requests is traced, each time the last of them; 0 for none but those of clients that ask
 *     for it; not negative
 * @param count how many more requests are traced; {@link #UNLIMITED} for any number
 * @param logFrequency after how many traces a file of its own is written; 0 for one file that all of them go to
 */
public record TraceSettings(Set<TraceLevel> levels, long rate, long count, long logFrequency) {
    /** The count that never ends. */
    public static final long UNLIMITED = -1;

    /** How the refusal of settings for a model begins that is not ready; the model's name follows. */
    public static final String UNKNOWN_MODEL = "Request for unknown model : ";

    private static final long DEFAULT_RATE = 1000;

    /** Keeps a copy of the levels. */
    public TraceSettings {
        levels = Set.copyOf(levels);
    }

    /** No traces; one of 1000 requests once there is a level, as Triton has it. */
    public static TraceSettings off() {
        return new TraceSettings(Set.of(), DEFAULT_RATE, UNLIMITED, 0);
    }

    boolean tellsAnything() {
        return !levels.isEmpty();
    }

    /** The kinds of detail that a trace can have. */
    public enum TraceLevel {
        /** When a request reached each stage. */
        TIMESTAMPS,
        /** The elements of its tensors as well. */
        TENSORS
    }
}
