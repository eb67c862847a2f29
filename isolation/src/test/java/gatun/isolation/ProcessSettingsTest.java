// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.spi.ConfigurationException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import gatun.workers.ProcessLimits;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessSettingsTest {
    private static ModelConfig config(Map<String, String> parameters) {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        parameters.forEach((name, value) -> config.putParameters(
                name, ModelParameter.newBuilder().setStringValue(value).build()));
        return config.build();
    }

    @Test
    void shouldHaveDefaults() {
        assertThat(ProcessSettings.of(config(Map.of())))
                .isEqualTo(new ProcessSettings(
                        ProcessSettings.Scope.INSTANCE,
                        Duration.ZERO,
                        256L << 20,
                        0,
                        new ProcessLimits(0, 0, "", Map.of(), Optional.empty())));
    }

    @Test
    void shouldTakeWhatAModelSays() {
        assertThat(ProcessSettings.of(config(Map.of(
                        "isolation_scope", "model",
                        "execution_timeout_ms", "1500",
                        "isolation_tensor_memory", "1048576",
                        "isolation_memory_limit", "67108864",
                        "isolation_nice", "5",
                        "isolation_cores", "0-3,7",
                        "isolation_env.OMP_NUM_THREADS", "1",
                        "isolation_spin_us", "20"))))
                .isEqualTo(new ProcessSettings(
                        ProcessSettings.Scope.MODEL,
                        Duration.ofMillis(1500),
                        1 << 20,
                        20_000,
                        new ProcessLimits(64 << 20, 5, "0-3,7", Map.of("OMP_NUM_THREADS", "1"), Optional.empty())));
    }

    @ParameterizedTest
    @CsvSource({
        "isolation_scope, server",
        "execution_timeout_ms, soon",
        "isolation_tensor_memory, 1",
        "isolation_memory_limit, -1",
        "isolation_nice, 20",
        "isolation_cores, 1-",
        "isolation_cores, 0;1",
        "isolation_env.A-B, x",
        "isolation_env., x",
        "isolation_spin_us, 1000001"
    })
    void shouldRefuseWhatMeansNothing(String name, String value) {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> ProcessSettings.of(config(Map.of(name, value))))
                .withMessageContaining("parameter '" + name + "'");
    }
}
