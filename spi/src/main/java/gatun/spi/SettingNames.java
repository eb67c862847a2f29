// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/**
 * What settings are called where the operator sets them, as flags for instance. The program that the server is a part
 * of provides it as a service; without one they have plain names. Safe for any thread.
 */
@FunctionalInterface
public interface SettingNames {
    /** The name of {@code setting} for texts. */
    String of(Setting setting);
}
