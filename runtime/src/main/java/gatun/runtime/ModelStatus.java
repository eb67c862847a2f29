package gatun.runtime;

import java.time.Duration;

/**
 * One line of the repository index.
 *
 * @param name the model
 * @param version the version in decimal; empty when none of the model's versions could be considered
 * @param backend the engine; empty when unknown
 * @param state where the version is in its life
 * @param reason why it is unavailable; empty when it is not
 * @param loadTime how long loading took; zero when it was not tried
 */
public record ModelStatus(
        String name, String version, String backend, ModelState state, String reason, Duration loadTime) {}
