// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which arguments need no picocli. That they mean the same with it, {@link CommandFixture} tests for all others. */
class PlainArgumentsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "models",
                "--model-repository=models --http-port=0 --grpc-port 0 --allow-metrics=false",
                "--model-repository models --load-model=a --load-model b --model-control-mode=explicit",
                "models --log-verbose",
                "models --allow-http --grpc-port=1"
            })
    void shouldReadWholeFlags(String arguments) {
        assertThat(isPlain(arguments)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "--help",
                "models --http-prt=1",
                "models --http-p=1",
                "models --http-port=x --http-port=1",
                "models --http-port=",
                "models --http-port",
                "--allow-http models",
                "--config=file models",
                "@file",
                "-",
                "models --",
                "models --buffer-manager-thread-count=4",
                "models --disable-auto-complete-config=true",
                "models --load-model=a",
                "models --grpc-use-ssl=true",
                "models --log-verbose -1"
            })
    void shouldLeaveAllOthersToPicocli(String arguments) {
        assertThat(isPlain(arguments)).isFalse();
    }

    @Test
    void shouldSeeVariablesThatMayBeFlags() {
        assertThat(SettingSources.areIn(Map.of("GATUN_HTTP_PORT", "1"))).isTrue();
        assertThat(SettingSources.areIn(Map.of("AIP_MODE", "PREDICTION"))).isTrue();
        assertThat(SettingSources.areIn(Map.of("SAGEMAKER_TRITON_PING_MODE", "live")))
                .isTrue();
        assertThat(SettingSources.areIn(Map.of("GATUN_JAVA_OPTS", "-Xmx1g", "HOME", "/")))
                .isFalse();
    }

    private static boolean isPlain(String arguments) {
        List<String> words = arguments.isEmpty() ? List.of() : List.of(arguments.split(" "));
        return ServeCommand.servePlainly((settings, log, warned) -> 0, words).isPresent();
    }
}
