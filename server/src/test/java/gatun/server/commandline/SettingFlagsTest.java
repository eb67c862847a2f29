// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.settings.ServerSettings;
import gatun.spi.Setting;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The names of settings in the texts of other modules. */
class SettingFlagsTest {
    @ParameterizedTest
    @EnumSource
    void shouldNameAFlagThatThereIs(Setting setting) {
        assertThat(ServeCommand.create((settings, log, warnings) -> 0, ServerSettings.standard())
                        .getCommandSpec()
                        .optionsMap())
                .containsKey(setting.toString());
    }
}
