// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.server.settings.ServerSettings.DevicePoolLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DevicePoolFlagTest {
    @Test
    void shouldReadAGpuAndANumberOfBytes() {
        assertThat(new DevicePoolFlag().convert("1:67108864")).isEqualTo(new DevicePoolLimit(1, 67_108_864));
    }

    @ParameterizedTest
    @ValueSource(strings = {"67108864", ":5", "0:", "a:5", "0:b", "-1:5", "0:-5", "0:5:6"})
    void shouldSayWhatItLooksLike(String value) {
        assertThatThrownBy(() -> new DevicePoolFlag().convert(value))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("such as 0:1073741824");
    }
}
