// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.IOException;
import java.util.Set;

/**
 * One row of the table of attacks.
 *
 * @param name the attack in a few words
 * @param outcomes the allowed outcomes: an HTTP status, the number of a gRPC status, or another word of
 *     {@link Action#run}
 * @param action the attack itself
 */
public record Attack(String name, Set<String> outcomes, Action action) {
    /** Keeps a copy of the outcomes. */
    public Attack {
        outcomes = Set.copyOf(outcomes);
    }

    /** The action of an attacker. */
    @FunctionalInterface
    public interface Action {
        /**
         * Attacks once; whatever it opens is closed when it returns.
         *
         * @return the attacker's outcome
         */
        String run(Target target) throws IOException;
    }

    @Override
    public String toString() {
        return name;
    }
}
