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

    /** Where a model version is in its life. */
    public enum ModelState {
        /** In the repository and never loaded. */
        UNKNOWN,
        /** Being loaded. */
        LOADING,
        /** Answers requests. */
        READY,
        /** Refuses new requests and waits for running ones. */
        UNLOADING,
        /** Cannot answer; the reason says why. */
        UNAVAILABLE
    }

    /**
     * How far the load of a version has come. Its instances, open and warm ones among them, are 0 while not known;
     * {@code beganMillis} is in milliseconds since 1970.
     */
    public record LoadProgress(Phase phase, int instancesReady, int instances, long beganMillis) {
        /** The parts of a load, in their order. */
        public enum Phase {
            /** Other versions of the model are loaded first. */
            WAITING("waiting"),
            /** The configuration is read, checked and completed. */
            CONFIGURATION("reading-configuration"),
            /** The engine reads the model. */
            OPENING("opening"),
            /** Instances are made. */
            INSTANCES("starting-instances"),
            /** At least one instance answers the requests that it is to answer before it serves. */
            WARM_UP("warming-up");

            private final String wireName;

            Phase(String wireName) {
                this.wireName = wireName;
            }

            /** Its name for programs. */
            public String wireName() {
                return wireName;
            }
        }
    }
}
