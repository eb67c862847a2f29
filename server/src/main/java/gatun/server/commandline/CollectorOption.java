// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.opentelemetry.CollectorSettings;
import java.net.URI;
import java.time.Duration;
import java.util.function.UnaryOperator;
import picocli.CommandLine.TypeConversionException;

/** One {@code --trace-config=opentelemetry,...}: changes where traces are sent, or how. */
@FunctionalInterface
interface CollectorOption extends UnaryOperator<CollectorSettings> {
    /** The beginning of such a setting. */
    String PREFIX = "opentelemetry,";

    /**
     * Reads {@code url=URL}, {@code resource=NAME=VALUE} or one of the numbers of the batch span processor.
     *
     * @throws TypeConversionException when it is none of them
     */
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
                        FlagType.number(value, 0, Integer.MAX_VALUE, "a number of milliseconds from 0 up"));
                yield before -> before.withScheduleDelay(delay);
            }
            default ->
                throw new TypeConversionException("'" + PREFIX + setting + "' is not a setting of OpenTelemetry: "
                        + PREFIX + "url=URL, " + PREFIX + "resource=NAME=VALUE, " + PREFIX + "bsp_max_queue_size=N, "
                        + PREFIX + "bsp_schedule_delay=MILLISECONDS or " + PREFIX + "bsp_max_export_batch_size=N");
        };
    }

    private static int count(String value) {
        return (int) FlagType.number(value, 1, 1 << 20, "a number of spans from 1 to " + (1 << 20));
    }

    private static void requireAddress(String text) {
        URI address;
        try {
            address = CollectorSettings.address(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(unusable(text) + " (" + e.getMessage() + ")");
        }
        boolean http = "http".equalsIgnoreCase(address.getScheme()) || "https".equalsIgnoreCase(address.getScheme());
        if (address.getHost() == null || !http) {
            throw new TypeConversionException(unusable(text));
        }
    }

    private static String unusable(String text) {
        return "'" + text + "' is not the URL of a collector: expected one as http://localhost:4318/v1/traces";
    }
}
