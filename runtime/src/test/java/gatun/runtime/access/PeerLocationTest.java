// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import static gatun.runtime.access.PeerLocation.OTHER_MACHINE;
import static gatun.runtime.access.PeerLocation.THIS_MACHINE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerLocationTest {
    private static final InetSocketAddress SERVER = at("10.0.0.5");
    private static final PeerLocation.InterfaceAddresses NO_INTERFACES =
            new PeerLocation.InterfaceAddresses(Set::of, () -> 0);

    private static InetSocketAddress at(String address) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), 8000);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "10.0.0.5", "::ffff:10.0.0.5"})
    void shouldTakeLoopbackAndTheServersOwnAddressForThisMachine(String address) {
        assertThat(PeerLocation.of(at(address), SERVER, NO_INTERFACES)).isEqualTo(THIS_MACHINE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.6", "192.168.1.7", "::ffff:10.0.0.6", "2001:db8::1", "0.0.0.0", "128.0.0.1", "::2"})
    void shouldTakeOtherAddressesForOtherMachines(String address) {
        assertThat(PeerLocation.of(at(address), SERVER, NO_INTERFACES)).isEqualTo(OTHER_MACHINE);
    }

    @Test
    void shouldTakeUnixSocketsForThisMachine() {
        UnixDomainSocketAddress socket = UnixDomainSocketAddress.of("");
        assertThat(PeerLocation.of(socket, UnixDomainSocketAddress.of("/run/gatun"), NO_INTERFACES))
                .isEqualTo(THIS_MACHINE);
    }

    @Test
    void shouldTakeAddressesThatNobodyResolvedForOtherMachines() {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("localhost", 8000);
        assertThat(PeerLocation.of(unresolved, SERVER, NO_INTERFACES)).isEqualTo(OTHER_MACHINE);
    }

    @Test
    void shouldTakeTheAddressesOfOtherInterfacesForThisMachine() throws IOException {
        InetAddress own = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .findAny()
                .orElseThrow();
        assertThat(PeerLocation.of(new InetSocketAddress(own, 1), SERVER)).isEqualTo(THIS_MACHINE);
    }

    @Test
    void shouldTakeALinkLocalAddressForThisMachineWhateverItsScope() throws IOException {
        byte[] linkLocal = InetAddress.getByName("fe80::1").getAddress();
        InetSocketAddress client = new InetSocketAddress(Inet6Address.getByAddress(null, linkLocal, 2), 1);
        InetSocketAddress server = new InetSocketAddress(Inet6Address.getByAddress(null, linkLocal, 3), 8000);
        assertThat(PeerLocation.of(client, server, NO_INTERFACES)).isEqualTo(THIS_MACHINE);
    }

    @Test
    void shouldListTheInterfacesOnceForManyConnections() {
        AtomicInteger lists = new AtomicInteger();
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);
        PeerLocation.InterfaceAddresses own = new PeerLocation.InterfaceAddresses(
                () -> {
                    lists.incrementAndGet();
                    return Set.of(at("10.0.0." + (8 + lists.get())).getAddress());
                },
                now::get);
        for (int i = 0; i < 100; i++) {
            assertThat(PeerLocation.of(at("10.0.0.9"), SERVER, own)).isEqualTo(THIS_MACHINE);
            assertThat(PeerLocation.of(at("10.0.0.10"), SERVER, own)).isEqualTo(OTHER_MACHINE);
        }
        assertThat(lists).hasValue(1);

        now.addAndGet(Duration.ofSeconds(11).toNanos()); // past the end of a long, as System.nanoTime() may go
        assertThat(PeerLocation.of(at("10.0.0.10"), SERVER, own)).isEqualTo(THIS_MACHINE);
        assertThat(PeerLocation.of(at("10.0.0.9"), SERVER, own)).isEqualTo(OTHER_MACHINE);
    }

    @ParameterizedTest
    @CsvSource({
        "forwarded, true",
        "x-forwarded-for, true",
        "via, true",
        "x-forwarded-proto, false",
        "host, false",
        "'', false"
    })
    void shouldKnowTheHeadersOfProxies(String header, boolean forwarding) {
        assertThat(PeerLocation.isForwarding(header)).isEqualTo(forwarding);
    }
}
