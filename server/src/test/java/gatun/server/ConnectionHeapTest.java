// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections.ConnectionLimits;
import org.junit.jupiter.api.Test;

class ConnectionHeapTest {
    /** The maximum heap that the JVM reports for the launcher's 512 MiB. */
    private static final ConnectionHeap LAUNCHERS = new ConnectionHeap(455L << 20);

    @Test
    void shouldHoldAllConnectionsWithoutTlsInTheHeapThatTheLauncherGives() {
        assertThat(LAUNCHERS.fit(ConnectionLimits.STANDARD, false)).isEqualTo(ConnectionLimits.STANDARD);
    }

    @Test
    void shouldTakeFewerConnectionsOverTlsAndInASmallerHeap() {
        assertThat(LAUNCHERS.fit(ConnectionLimits.STANDARD, true).most()).isBetween(11_000, 12_000);
        assertThat(new ConnectionHeap(64L << 20)
                        .fit(ConnectionLimits.STANDARD, false)
                        .most())
                .isBetween(2000, 2500);
    }
}
