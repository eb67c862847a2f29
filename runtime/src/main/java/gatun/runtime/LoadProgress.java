// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How far the load of a version has come.
 *
 * @param phase what is done now
 * @param instancesReady how many of its instances are open and warm
 * @param instances how many it is to have; 0 while that is not known
 * @param beganMillis when it began, in milliseconds since 1970
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
