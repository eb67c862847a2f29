// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** Puts engines into processes of their own. Safe for any thread. */
@FunctionalInterface
public interface Isolation {
    /**
     * An engine that reads, loads and runs its models in processes; not started.
     *
     * @param backend the engine's name
     */
    Backend isolate(String backend);
}
