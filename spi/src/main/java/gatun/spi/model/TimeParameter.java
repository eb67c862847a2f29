// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Parameters of models that say how long something takes, as a whole number. */
public final class TimeParameter {
    /** A longer time is a slip of the pen, and would keep the server from ending. */
    private static final Duration LONGEST = Duration.ofHours(1);

    private TimeParameter() {}

    /** The time in parameter {@code name}, zero without it. Throws ConfigurationException for a wrong value. */
    public static Duration of(ModelConfig config, String name, TimeUnit unit) {
        if (!config.containsParameters(name)) {
            return Duration.ZERO;
        }
        String text = config.getParametersOrThrow(name).getStringValue();
        try {
            return of(name, Long.parseLong(text), unit);
        } catch (NumberFormatException e) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(name),
                    "parameter '" + name + "' is '" + text + "', expected " + text(unit) + " as a number");
        }
    }

    /** A time from parameter {@code name}. Throws ConfigurationException when it is negative, or more than an hour. */
    public static Duration of(String name, long count, TimeUnit unit) {
        long most = unit.convert(LONGEST);
        if (count < 0 || count > most) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(name),
                    "parameter '" + name + "' is " + count + ", expected " + text(unit) + " from 0 to " + most);
        }
        return Duration.of(count, unit.toChronoUnit());
    }

    private static String text(TimeUnit unit) {
        return unit.name().toLowerCase(Locale.ROOT);
    }
}
