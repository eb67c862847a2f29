// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The settings that were set for one model, or for all; what is empty was not. */
record TraceOverride(
        Optional<Set<TraceLevel>> levels, Optional<Long> rate, Optional<Long> count, Optional<Long> logFrequency) {
    static final TraceOverride NONE =
            new TraceOverride(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    private static final long MAX_UNSIGNED = 0xFFFF_FFFFL;

    /** The settings {@code base}, with these in their place. */
    TraceSettings over(TraceSettings base) {
        return new TraceSettings(
                levels.orElse(base.levels()),
                rate.orElse(base.rate()),
                count.orElse(base.count()),
                logFrequency.orElse(base.logFrequency()));
    }

    /**
     * These with {@code changes} in their place, of which an empty list takes a setting back. Names that are unknown
     * are ignored.
     *
     * @throws GatunException INVALID_ARGUMENT for a value that cannot be read, UNSUPPORTED for what cannot be changed
     */
    TraceOverride with(Map<String, List<String>> changes) {
        if (changes.containsKey("trace_file")) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED, "trace file location can not be updated through network protocol");
        }
        return new TraceOverride(
                changed(changes, "trace_level", levels, TraceOverride::levels),
                changed(changes, "trace_rate", rate, values -> unsigned("trace_rate", values)),
                changed(changes, "trace_count", count, TraceOverride::count),
                changed(changes, "log_frequency", logFrequency, values -> unsigned("log_frequency", values)));
    }

    private static <T> Optional<T> changed(
            Map<String, List<String>> changes, String name, Optional<T> before, Function<List<String>, T> reading) {
        List<String> values = changes.get(name);
        if (values == null) {
            return before;
        }
        return values.isEmpty() ? Optional.empty() : Optional.of(reading.apply(values));
    }

    private static Set<TraceLevel> levels(List<String> names) {
        EnumSet<TraceLevel> levels = EnumSet.noneOf(TraceLevel.class);
        for (String name : names) {
            switch (name) {
                case "TIMESTAMPS" -> levels.add(TraceLevel.TIMESTAMPS);
                case "TENSORS" -> levels.add(TraceLevel.TENSORS);
                case "OFF" -> {
                    if (names.size() > 1) {
                        throw GatunException.invalidArgument("Expect only one trace level 'OFF' is specified");
                    }
                }
                default -> throw unreadable("trace_level", name);
            }
        }
        return levels;
    }

    private static long unsigned(String name, List<String> values) {
        return number(name, values, 0, MAX_UNSIGNED);
    }

    private static long count(List<String> values) {
        long count = number("trace_count", values, Integer.MIN_VALUE, Integer.MAX_VALUE);
        if (count < TraceSettings.UNLIMITED) {
            throw GatunException.invalidArgument("Unable to parse 'trace_count'. Expecting value >= -1, got: " + count);
        }
        return count;
    }

    private static long number(String name, List<String> values, long least, long most) {
        if (values.size() != 1) {
            throw GatunException.invalidArgument("expect only 1 value for '" + name + "'");
        }
        String text = values.getFirst();
        long number;
        try {
            number = Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw unreadable(name, text);
        }
        if (number < least || number > most) {
            throw GatunException.invalidArgument("Unable to parse '" + name + "', value is out of range [ " + least
                    + ", " + most + " ], got: " + text);
        }
        return number;
    }

    private static GatunException unreadable(String name, String text) {
        return GatunException.invalidArgument("Unable to parse '" + name + "', got: " + text);
    }
}
