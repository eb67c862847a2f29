// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.OpenConnections.WireProtocol;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OpenConnectionsTest {
    private static final SocketAddress ONE = new InetSocketAddress("192.0.2.1", 4711);
    private static final SocketAddress ONE_AGAIN = new InetSocketAddress("192.0.2.1", 4712);
    private static final SocketAddress OTHER = new InetSocketAddress("192.0.2.2", 4711);
    private static final SocketAddress UNIX = UnixDomainSocketAddress.of("/tmp/socket");

    private final OpenConnections open = new OpenConnections(limits(3, 1));

    @Test
    void shouldRefuseWhatExceedsTheLimitOfAllAndTakeItWhenOneIsClosed() {
        OpenConnections any = new OpenConnections(limits(2, 0));
        assertThat(any.admit(WireProtocol.HTTP, ONE)).isEmpty();
        assertThat(any.admit(WireProtocol.GRPC, ONE_AGAIN)).isEmpty();
        assertThat(any.admit(WireProtocol.HTTP, OTHER)).contains(ConnectionRefusal.SERVER);
        any.closed(WireProtocol.HTTP, ONE);
        assertThat(any.admit(WireProtocol.HTTP, OTHER)).isEmpty();
        assertThat(any.refused(ConnectionRefusal.SERVER)).isEqualTo(1);
        assertThat(any.open(WireProtocol.HTTP)).isEqualTo(1);
        assertThat(any.open(WireProtocol.GRPC)).isEqualTo(1);
    }

    @Test
    void shouldRefuseASecondConnectionOfAnAddressAlone() {
        assertThat(open.admit(WireProtocol.HTTP, ONE)).isEmpty();
        assertThat(open.admit(WireProtocol.HTTP, ONE_AGAIN)).contains(ConnectionRefusal.ADDRESS);
        assertThat(open.admit(WireProtocol.HTTP, OTHER)).isEmpty();
        open.closed(WireProtocol.HTTP, ONE);
        assertThat(open.admit(WireProtocol.HTTP, ONE_AGAIN)).isEmpty();
        assertThat(open.refused(ConnectionRefusal.ADDRESS)).isEqualTo(1);
    }

    @Test
    void shouldTakeAnIpv6NetworkForOneClient() {
        assertThat(open.admit(WireProtocol.HTTP, new InetSocketAddress("2001:db8::1", 1)))
                .isEmpty();
        assertThat(open.admit(WireProtocol.HTTP, new InetSocketAddress("2001:db8::ffff:2", 1)))
                .contains(ConnectionRefusal.ADDRESS);
        assertThat(open.admit(WireProtocol.HTTP, new InetSocketAddress("2001:db8:0:1::1", 1)))
                .isEmpty();
    }

    @Test
    void shouldLimitUnixSocketsByTheLimitOfAllOnly() {
        for (int i = 0; i < 3; i++) {
            assertThat(open.admit(WireProtocol.HTTP, UNIX)).isEmpty();
        }
        assertThat(open.admit(WireProtocol.HTTP, UNIX)).contains(ConnectionRefusal.SERVER);
    }

    @Test
    void shouldTakeNoLimitsThatMakeNoSense() {
        assertThatIllegalArgumentException().isThrownBy(() -> limits(0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> limits(1, -1));
        assertThat(limits(10, 5).within(3)).isEqualTo(limits(3, 3));
        assertThat(limits(1000, 900).within(160)).isEqualTo(limits(160, 150));
        assertThat(limits(1000, 0).within(160)).isEqualTo(limits(160, 0));
        assertThat(limits(10, 5).within(-1).most()).isEqualTo(1);
    }

    private static ConnectionLimits limits(int most, int mostPerAddress) {
        return new ConnectionLimits(most, mostPerAddress, Duration.ofSeconds(10));
    }
}
