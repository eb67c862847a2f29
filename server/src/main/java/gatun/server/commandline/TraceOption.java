// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.tracing.TraceSettings;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import gatun.server.opentelemetry.CollectorSettings;
import gatun.server.settings.TracingSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** One {@code --trace-config}: changes one setting of the tracing. */
@FunctionalInterface
interface TraceOption {
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
            return FlagSpecs.number(value, least, most, "a number from " + least + " up, as in '" + text + "'");
        }
    }

    /** One {@code --trace-config=opentelemetry,...}: changes where traces are sent, or how. */
    @FunctionalInterface
    interface CollectorOption extends UnaryOperator<CollectorSettings> {
        String PREFIX = "opentelemetry,";

        /** {@code url=URL}, {@code resource=NAME=VALUE}, or a number of the batch span processor. Throws otherwise. */
        static CollectorOption read(String setting) {
            int equals = setting.indexOf('=');
            String name = equals < 0 ? setting : setting.substring(0, equals);
            String value = equals < 0 ? "" : setting.substring(equals + 1);
            return switch (name) {
                case "url" -> {
                    requireAddress(value);
                    yield before -> before.withUrl(value);
                }
                case "resource" -> {
                    String[] pair = value.split("=", 2);
                    if (pair.length < 2 || pair[0].isEmpty()) {
                        throw new TypeConversionException("'" + PREFIX + setting
                                + "' does not say what traces tell of this server: " + PREFIX + "resource=NAME=VALUE");
                    }
                    yield before -> before.withResource(pair[0], pair[1]);
                }
                case "bsp_max_queue_size" -> {
                    int spans = count(value);
                    yield before -> before.withMaxQueueSize(spans);
                }
                case "bsp_max_export_batch_size" -> {
                    int spans = count(value);
                    yield before -> before.withMaxBatchSize(spans);
                }
                case "bsp_schedule_delay" -> {
                    Duration delay = Duration.ofMillis(
                            FlagSpecs.number(value, 0, Integer.MAX_VALUE, "a number of milliseconds from 0 up"));
                    yield before -> before.withScheduleDelay(delay);
                }
                default ->
                    throw new TypeConversionException("'" + PREFIX + setting + "' is not a setting of OpenTelemetry: "
                            + PREFIX + "url=URL, " + PREFIX + "resource=NAME=VALUE, " + PREFIX
                            + "bsp_max_queue_size=N, "
                            + PREFIX + "bsp_schedule_delay=MILLISECONDS or " + PREFIX + "bsp_max_export_batch_size=N");
            };
        }

        private static int count(String value) {
            return (int) FlagSpecs.number(value, 1, 1 << 20, "a number of spans from 1 to " + (1 << 20));
        }

        private static void requireAddress(String text) {
            URI address;
            try {
                address = CollectorSettings.address(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(unusable(text) + " (" + e.getMessage() + ")");
            }
            boolean http =
                    "http".equalsIgnoreCase(address.getScheme()) || "https".equalsIgnoreCase(address.getScheme());
            if (address.getHost() == null || !http) {
                throw new TypeConversionException(unusable(text));
            }
        }

        private static String unusable(String text) {
            return "'" + text + "' is not the URL of a collector: expected one as http://localhost:4318/v1/traces";
        }
    }
}
