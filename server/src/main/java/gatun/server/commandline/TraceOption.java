// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.tracing.TraceLevel;
import gatun.runtime.tracing.TraceSettings;
import gatun.server.settings.TracingSettings;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** One {@code --trace-config}: changes one setting of the tracing. */
@FunctionalInterface
interface TraceOption {
    /** The settings {@code before}, with this one changed. */
    TracingSettings changed(TracingSettings before);

    /** No tracing, with all of {@code options} changed in their order. */
    static TracingSettings apply(List<TraceOption> options) {
        TracingSettings settings = TracingSettings.OFF;
        for (TraceOption option : options) {
            settings = option.changed(settings);
        }
        return settings;
    }

    /** Reads {@code setting=value}; those of a mode may name it before: {@code triton,file=PATH}. */
    final class Reader implements ITypeConverter<TraceOption> {
        private static final String TRITON = "triton,";
        private static final long MAX_UNSIGNED = 0xFFFF_FFFFL;

        @Override
        public TraceOption convert(String text) {
            if (text.startsWith(CollectorOption.PREFIX)) {
                CollectorOption option = CollectorOption.read(text.substring(CollectorOption.PREFIX.length()));
                return before -> before.withCollector(option.apply(before.collector()));
            }
            String setting = text.startsWith(TRITON) ? text.substring(TRITON.length()) : text;
            int equals = setting.indexOf('=');
            String name = equals < 0 ? setting : setting.substring(0, equals);
            String value = equals < 0 ? "" : setting.substring(equals + 1);
            return switch (name) {
                case "level" -> level(value);
                case "rate" -> {
                    long rate = number(text, value, 0, MAX_UNSIGNED);
                    yield before -> before.withSettings(new TraceSettings(
                            before.settings().levels(),
                            rate,
                            before.settings().count(),
                            before.settings().logFrequency()));
                }
                case "count" -> {
                    long count = number(text, value, TraceSettings.UNLIMITED, Integer.MAX_VALUE);
                    yield before -> before.withSettings(new TraceSettings(
                            before.settings().levels(),
                            before.settings().rate(),
                            count,
                            before.settings().logFrequency()));
                }
                case "log-frequency" -> {
                    long frequency = number(text, value, 0, MAX_UNSIGNED);
                    yield before -> before.withSettings(new TraceSettings(
                            before.settings().levels(),
                            before.settings().rate(),
                            before.settings().count(),
                            frequency));
                }
                case "file" -> before -> before.withFile(Path.of(value));
                case "mode" -> mode(value);
                default ->
                    throw new TypeConversionException("'" + text + "' is not a setting of the tracing:"
                            + " level=TIMESTAMPS, level=TENSORS or level=OFF, rate=N, count=N,"
                            + " mode=triton or mode=opentelemetry, triton,file=PATH, triton,log-frequency=N,"
                            + " opentelemetry,url=URL or opentelemetry,resource=NAME=VALUE");
            };
        }

        /** Levels add up over several flags. */
        private static TraceOption level(String value) {
            Set<TraceLevel> more =
                    switch (value.toUpperCase(Locale.ROOT)) {
                        case "TIMESTAMPS" -> Set.of(TraceLevel.TIMESTAMPS);
                        case "TENSORS" -> Set.of(TraceLevel.TENSORS);
                        case "OFF" -> Set.of();
                        default ->
                            throw new TypeConversionException(
                                    "'" + value + "' is not a level of traces: TIMESTAMPS, TENSORS or OFF");
                    };
            return before -> {
                Set<TraceLevel> levels = EnumSet.noneOf(TraceLevel.class);
                if (!more.isEmpty()) {
                    levels.addAll(before.settings().levels());
                }
                levels.addAll(more);
                return before.withSettings(new TraceSettings(
                        levels,
                        before.settings().rate(),
                        before.settings().count(),
                        before.settings().logFrequency()));
            };
        }

        private static TraceOption mode(String value) {
            return switch (value) {
                case "triton" -> before -> before.withOpenTelemetry(false);
                case "opentelemetry" -> before -> before.withOpenTelemetry(true);
                default ->
                    throw new TypeConversionException(
                            "'" + value + "' is not a mode of tracing: triton or opentelemetry");
            };
        }

        private static long number(String text, String value, long least, long most) {
            return FlagType.number(value, least, most, "a number from " + least + " up, as in '" + text + "'");
        }
    }
}
