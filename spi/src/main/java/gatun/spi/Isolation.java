// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** Puts engines into processes of their own. Safe for any thread. */
@FunctionalInterface
public interface Isolation {
    /** An engine that reads, loads and runs the models of {@code backend} in processes; not started. */
    Backend isolate(String backend);
}
