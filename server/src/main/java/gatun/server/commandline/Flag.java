// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.function.Supplier;

/**
 * One flag of {@code gatun serve}.
 *
 * @param name its first name
 * @param reading the value that it has once the command line is parsed
 */
record Flag<T>(String name, Supplier<T> reading) {
    /** The value that was given, or else the default. */
    T value() {
        return reading.get();
    }
}
