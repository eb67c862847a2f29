// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestFlagTest {
    @Test
    void shouldTakeTheNearestOfSeveral() {
        List<String> flags = List.of("--grpc-port", "--http-port", "--metrics-port");
        assertThat(NearestFlag.to("--htp-port=8000", flags)).contains("--http-port");
    }

    @Test
    void shouldTakeTheFirstByNameOfEquallyNearOnes() {
        assertThat(NearestFlag.to("--log-x", List.of("--log-z", "--log-y"))).contains("--log-y");
    }

    @Test
    void shouldTakeTheFlagWithMostOfTheWordsWhereNoneIsSpeltAlike() {
        List<String> flags = List.of(
                "--grpc-server-cert", "--http-port", "--http-server-cert", "--http-root-cert", "--http-server-key");
        assertThat(NearestFlag.to("--http-tls-certificate", flags)).contains("--http-root-cert or --http-server-cert");
        assertThat(NearestFlag.to("--http-tls-private-key=a.pem", flags)).contains("--http-server-key");
        assertThat(NearestFlag.to("--http-nonsense-altogether", flags)).isEmpty();
    }

    @Test
    void shouldFindNothingFarAway() {
        assertThat(NearestFlag.to("--nonsense", List.of("--http-port"))).isEmpty();
    }
}
