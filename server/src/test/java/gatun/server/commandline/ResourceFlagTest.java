// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.ResourceAmount;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ResourceFlagTest {
    private final ResourceFlag flag = new ResourceFlag();

    @Test
    void shouldReadAResourceOfEachDeviceOrOfOne() {
        assertThat(flag.convert("R1:10")).isEqualTo(new ResourceAmount("R1", 10, ResourceAmount.EVERY_DEVICE));
        assertThat(flag.convert("R1:10:2")).isEqualTo(new ResourceAmount("R1", 10, 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"R1", "R1:", ":1", "R1:x", "R1:-1", "R1:1:2:3", "R1:99999999999"})
    void shouldRefuseWhatIsNoResource(String text) {
        assertThatThrownBy(() -> flag.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "' is not NAME:COUNT or NAME:COUNT:DEVICE");
    }
}
