// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.time.Duration;
import java.util.Optional;

/**
 * One line of the repository index.
 *
 * @param name the model
 * @param version the version in decimal; empty when none of the model's versions could be considered
 * @param engine the backend, or the platform of a model that has none, such as an ensemble; empty when unknown
 * @param state where the version is in its life
 * @param reason why it is unavailable; empty when it is not
 * @param loadTime how long loading took; zero when it was not tried
 * @param loading how far the load is; empty where nothing is loaded
 */
public record ModelStatus(
        String name,
        String version,
        String engine,
        ModelState state,
        String reason,
        Duration loadTime,
        Optional<LoadProgress> loading) {
    /** The reason of a version that was unloaded since nobody wants it. */
    public static final String UNLOADED = "unloaded";

    /** A line of what is not being loaded. */
    public ModelStatus(String name, String version, String engine, ModelState state, String reason, Duration loadTime) {
        this(name, version, engine, state, reason, loadTime, Optional.empty());
    }

    /** Whether the version is not served since it cannot be, and not since nobody wants it. */
    public boolean isFailed() {
        return !reason.isEmpty() && !reason.equals(UNLOADED);
    }

    /** The same version in another state, for another reason. */
    public ModelStatus as(ModelState newState, String newReason) {
        return new ModelStatus(name, version, engine, newState, newReason, loadTime);
    }

    /** The same version, which is being loaded. */
    public ModelStatus at(LoadProgress progress) {
        return new ModelStatus(name, version, engine, state, reason, loadTime, Optional.of(progress));
    }
}
