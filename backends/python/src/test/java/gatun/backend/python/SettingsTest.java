// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
    @Test
    void shouldRunThePythonOfThePathWithAGibibyteWhereNothingIsSaid() {
        assertThat(Settings.of("python", Map.of())).isEqualTo(new Settings("python3", 1L << 30));
    }

    @Test
    void shouldTakeWhatTheOperatorSays() {
        assertThat(Settings.of("python", Map.of("executable", "/opt/python", "memory-byte-size", "1048576")))
                .isEqualTo(new Settings("/opt/python", 1L << 20));
        assertThat(Settings.of("python", Map.of("memory-byte-size", "1099511627776"))
                        .memoryByteSize())
                .isEqualTo(1L << 40);
    }

    @Test
    void shouldPassOverTritonsOptionsThatHaveNoMeaningHere() {
        assertThat(Settings.of(
                        "python",
                        Map.of(
                                "shm-default-byte-size", "1",
                                "shm-growth-byte-size", "2",
                                "shm-region-prefix-name", "x",
                                "stub-timeout-seconds", "3",
                                "thread_pool_size", "4",
                                "default-max-batch-size", "5")))
                .isEqualTo(Settings.of("python", Map.of()));
    }

    @Test
    void shouldRefuseOptionsThatItDoesNotHave() {
        assertThatThrownBy(() -> Settings.of("python", Map.of("memory-size", "1", "executable", "python3", "a", "b")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessage("backend python has no option 'a', 'memory-size'; it has executable and memory-byte-size");
    }

    @Test
    void shouldRefuseMemoryOfASizeThatCannotBe() {
        for (String size : List.of("", "1 GiB", "-1", "1048575", "1099511627777", "99999999999999999999")) {
            assertThatThrownBy(() -> Settings.of("python", Map.of("memory-byte-size", size)))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                    .hasMessage("option memory-byte-size of backend python is '" + size
                            + "': expected a number of bytes from 1048576 to 1099511627776");
        }
    }
}
