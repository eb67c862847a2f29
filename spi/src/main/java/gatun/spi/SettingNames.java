// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** What operators call settings, such as flags; a service, or else plain names. Thread-safe. */
@FunctionalInterface
public interface SettingNames {
    /** The name of {@code setting} for texts. */
    String of(Setting setting);
}
