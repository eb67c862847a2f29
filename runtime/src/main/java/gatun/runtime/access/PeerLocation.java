// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The machine that a request comes from, by connection and headers. Local proxies make clients look local. */
public enum PeerLocation {
    /** A process of this machine, in the server's network namespace. */
    THIS_MACHINE,
    /** Any other client, or one whose request came through a proxy. */
    OTHER_MACHINE;

    private static final Logger LOG = LoggerFactory.getLogger(PeerLocation.class);

    /** The headers by which proxies of HTTP say that a request came through them, in lower case. */
    private static final Set<String> FORWARDING = Set.of("forwarded", "x-forwarded-for", "via");

    private static final InterfaceAddresses OWN =
            new InterfaceAddresses(PeerLocation::interfaceAddresses, System::nanoTime);

    /** The location of a connection's client, by both its addresses. A Unix socket has clients on this machine only. */
    public static PeerLocation of(SocketAddress remote, SocketAddress local) {
        return of(remote, local, OWN);
    }

    static PeerLocation of(SocketAddress remote, SocketAddress local, InterfaceAddresses own) {
        if (!(remote instanceof InetSocketAddress tcp)) {
            return THIS_MACHINE;
        }
        InetAddress client = tcp.getAddress();
        if (client == null) {
            return OTHER_MACHINE;
        }
        boolean sameAddress = local instanceof InetSocketAddress server && client.equals(server.getAddress());
        return client.isLoopbackAddress() || sameAddress || own.contain(client) ? THIS_MACHINE : OTHER_MACHINE;
    }

    /** Whether a header says that its request came through a proxy. */
    public static boolean isForwarding(String lowerCaseName) {
        return FORWARDING.contains(lowerCaseName);
    }

    /** The names of the headers that say that their request came through a proxy, in lower case. */
    public static Set<String> forwardingHeaders() {
        return FORWARDING;
    }

    private static Set<InetAddress> interfaceAddresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .collect(Collectors.toUnmodifiableSet());
        } catch (SocketException e) {
            LOG.warn("The addresses of this machine cannot be listed: {}", e.toString());
            return Set.of();
        }
    }

    /** Lists the addresses of this machine's interfaces. */
    @FunctionalInterface
    interface AddressList {
        Set<InetAddress> list();
    }

    /** The addresses of this machine, listed again for a connection when some seconds old. Thread-safe. */
    static final class InterfaceAddresses {
        private static final Duration LIFETIME = Duration.ofSeconds(10);

        private record Listed(Set<InetAddress> addresses, long atNanos) {}

        private final AddressList interfaces;
        private final LongSupplier nanoTime;
        private volatile @Nullable Listed listed;

        InterfaceAddresses(AddressList interfaces, LongSupplier nanoTime) {
            this.interfaces = interfaces;
            this.nanoTime = nanoTime;
        }

        boolean contain(InetAddress address) {
            long now = nanoTime.getAsLong();
            Listed last = listed;
            if (last == null || now - last.atNanos > LIFETIME.toNanos()) {
                last = new Listed(interfaces.list(), now);
                listed = last;
            }
            return last.addresses.contains(address);
        }
    }
}
