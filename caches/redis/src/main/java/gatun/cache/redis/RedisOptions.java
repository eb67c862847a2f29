// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import gatun.listener.PemFile;
import gatun.memory.tensor.GatunException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The options that an operator wrote, read one by one. Used by one thread. */
final class RedisOptions {
    /** The longest time to wait: requests wait for it, and a store that is gone must not hold them. */
    private static final int LONGEST_MILLIS = 60_000;

    private final Map<String, String> written;
    private final UnaryOperator<@Nullable String> environment;
    private final Set<String> read = new HashSet<>();

    /** @param environment the value of an environment variable, null where there is none */
    RedisOptions(Map<String, String> written, UnaryOperator<@Nullable String> environment) {
        this.written = written;
        this.environment = environment;
    }

    /** A text; empty where the option is not there. */
    Optional<String> text(String name) {
        read.add(name);
        return Optional.ofNullable(written.get(name));
    }

    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.apply(name)).filter(value -> !value.isEmpty());
    }

    Optional<PemFile> file(String name) {
        return text(name).map(path -> new PemFile("redis," + name, Path.of(path)));
    }

    boolean truth(String name) {
        return text(name)
                .map(value -> switch (value) {
                    case "true" -> true;
                    case "false" -> false;
                    default -> throw wrong(name, value, "true or false");
                })
                .orElse(false);
    }

    /** A whole number from {@code least} to {@code most}. */
    int number(String name, int standard, int least, int most) {
        return text(name)
                .map(value -> {
                    try {
                        int number = Integer.parseInt(value);
                        if (number >= least && number <= most) {
                            return number;
                        }
                    } catch (NumberFormatException e) {
                        // Said below.
                    }
                    throw wrong(name, value, "a number from " + least + " to " + most);
                })
                .orElse(standard);
    }

    /** A number of milliseconds. */
    Duration millis(String name, int standard) {
        return Duration.ofMillis(number(name, standard, 1, LONGEST_MILLIS));
    }

    /** @throws GatunException when there is an option that nobody has read */
    void requireAllRead() {
        Set<String> unknown = new TreeSet<>(written.keySet());
        unknown.removeAll(read);
        if (!unknown.isEmpty()) {
            throw GatunException.invalidArgument("the response cache redis has no option '"
                    + String.join("', '", unknown) + "': expected one of " + String.join(", ", new TreeSet<>(read)));
        }
    }

    private static GatunException wrong(String name, String value, String expected) {
        return GatunException.invalidArgument("redis," + name + "=" + value + ": expected " + expected);
    }
}
