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
    void shouldFindNothingFarAway() {
        assertThat(NearestFlag.to("--nonsense", List.of("--http-port"))).isEmpty();
    }
}
