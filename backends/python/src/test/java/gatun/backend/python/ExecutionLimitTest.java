// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.spi.ConfigurationException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExecutionLimitTest {
    private static ModelConfig limited(String millis) {
        return ModelConfig.newBuilder()
                .setName("m")
                .putParameters(
                        "execution_timeout_ms",
                        ModelParameter.newBuilder().setStringValue(millis).build())
                .build();
    }

    @Test
    void shouldHaveNoLimitWhereNoneIsConfigured() {
        assertThat(ExecutionLimit.of(ModelConfig.getDefaultInstance())).isEqualTo(Duration.ZERO);
    }

    @Test
    void shouldTakeMillisecondsUpToADay() {
        assertThat(ExecutionLimit.of(limited("1"))).isEqualTo(Duration.ofMillis(1));
        assertThat(ExecutionLimit.of(limited(" 2500\n"))).isEqualTo(Duration.ofMillis(2500));
        assertThat(ExecutionLimit.of(limited("86400000"))).isEqualTo(Duration.ofDays(1));
    }

    @Test
    void shouldRefuseWhatIsNoSuchNumber() {
        for (String wrong : List.of("", "0", "-5", "86400001", "1.5", "1s", "99999999999999999999")) {
            assertThatThrownBy(() -> ExecutionLimit.of(limited(wrong)))
                    .isInstanceOfSatisfying(ConfigurationException.class, e -> {
                        assertThat(e.path()).hasToString("parameters[execution_timeout_ms]");
                        assertThat(e.advice())
                                .isEqualTo("write a number of milliseconds from 1 to 86400000, or leave it out");
                    })
                    .hasMessage("parameter execution_timeout_ms of model 'm' is '" + wrong + "'");
        }
    }
}
