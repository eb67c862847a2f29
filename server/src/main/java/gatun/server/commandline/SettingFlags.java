// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagErrors.FlagNames;
import gatun.spi.Setting;
import gatun.spi.SettingNames;
import java.util.Locale;

/** Calls settings by their flags, in the texts of all modules. */
public final class SettingFlags implements SettingNames {
    /** Found by {@link java.util.ServiceLoader}. */
    public SettingFlags() {}

    @Override
    public String of(Setting setting) {
        String words = setting.name().toLowerCase(Locale.ROOT);
        return FlagNames.DASHES
                + switch (setting) {
                    // TensorFlow Serving's, in its spelling.
                    case MODEL_BASE_PATH, MODEL_CONFIG_FILE, MODEL_NAME, REST_API_TIMEOUT_IN_MS -> words;
                    default -> words.replace('_', '-');
                };
    }
}
