// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.v2.lane.LaneSettings;
import gatun.v2.protocol.V2ProtocolProvider;
import org.junit.jupiter.api.Test;

class LaneFlagsTest extends CommandFixture {
    @Test
    void shouldServeLanesByOneThreadUnlessToldOtherwise() {
        serve();
        assertThat(protocol(V2ProtocolProvider.class).lanes()).isEqualTo(new LaneSettings(1, 20));
        serve("--lane-threads=2", "--lane-spin-us=50");
        assertThat(protocol(V2ProtocolProvider.class).lanes()).isEqualTo(new LaneSettings(2, 50));
    }

    @Test
    void shouldRefuseNumbersThatHelpNobody() {
        assertThat(refuse("--model-repository=m", "--lane-threads=0"))
                .contains("'0' is not a number of threads from 1 to 64");
        assertThat(refuse("--model-repository=m", "--lane-threads=65")).contains("from 1 to 64");
        assertThat(refuse("--model-repository=m", "--lane-spin-us=1001"))
                .contains("'1001' is not a number of microseconds from 0 to 1000");
        assertThat(refuse("--model-repository=m", "--lane-spin-us=-1")).contains("from 0 to 1000");
    }
}
