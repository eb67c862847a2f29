// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.OptionalInt;

/** A place where the server listens; before it does, a port of 0 in {@code address} stands for any free one. */
public record Endpoint(Kind kind, SocketAddress address, boolean tls) {
    /** A place without TLS. */
    public Endpoint(Kind kind, SocketAddress address) {
        this(kind, address, false);
    }

    /** A port without TLS; 0 for any free one. */
    public static Endpoint onPort(Kind kind, String address, int port) {
        return new Endpoint(kind, new InetSocketAddress(address, port));
    }

    /** The same at the address that the system chose. */
    public Endpoint at(SocketAddress real) {
        return new Endpoint(kind, real, tls);
    }

    /** The same with TLS. */
    public Endpoint withTls() {
        return new Endpoint(kind, address, true);
    }

    /** The address for clients: a URL for HTTP, a target for gRPC. */
    public String url() {
        if (address instanceof UnixDomainSocketAddress unix) {
            return "unix:" + unix.getPath();
        }
        InetSocketAddress tcp = (InetSocketAddress) address;
        String scheme = kind.transport == Transport.GRPC ? "" : tls ? "https://" : "http://";
        return scheme + host(tcp) + ":" + tcp.getPort() + kind.path;
    }

    /** The port; empty for a Unix socket. */
    public OptionalInt port() {
        return address instanceof InetSocketAddress tcp ? OptionalInt.of(tcp.getPort()) : OptionalInt.empty();
    }

    /** Whether it takes connections from every network that the machine is on. */
    public boolean open() {
        return address instanceof InetSocketAddress tcp && tcp.getAddress().isAnyLocalAddress();
    }

    /** A host name that works on this machine: not every system can connect to 0.0.0.0. */
    private static String host(InetSocketAddress tcp) {
        InetAddress ip = tcp.getAddress();
        if (ip.isAnyLocalAddress()) {
            return "localhost";
        }
        String text = tcp.getHostString();
        return text.indexOf(':') < 0 ? text : "[" + text + "]";
    }

    /**
     * What a place is for. Places are listed by their audience and transport first.
     *
     * @param key the name in files and flags: {@code --http-port} and the like begin with it
     * @param title the name for people to read
     * @param path where clients begin, at the end of the URL
     * @param shared over HTTP, whether all protocols are spoken there or only the one whose place it is; over gRPC all
     *     are
     * @param secured whether TLS is spoken there if it is on the port of HTTP or gRPC
     */
    public record Kind(
            String key,
            String title,
            Transport transport,
            String path,
            Audience audience,
            boolean shared,
            boolean secured) {
        /** All protocols over HTTP. */
        public static final Kind HTTP = new Kind("http", "HTTP", Transport.HTTP, "", Audience.CLIENTS, true, true);

        /** All protocols over gRPC. */
        public static final Kind GRPC = new Kind("grpc", "gRPC", Transport.GRPC, "", Audience.CLIENTS, true, true);

        /** Metrics, read over HTTP. */
        public static final Kind METRICS =
                new Kind("metrics", "Metrics", Transport.HTTP, "/metrics", Audience.OPERATORS, false, false);
    }

    /** What is spoken at a place. */
    public enum Transport {
        /** HTTP/1.1. */
        HTTP,
        /** gRPC over HTTP/2. */
        GRPC
    }

    /** Who connects to a place. */
    public enum Audience {
        /** Clients of the protocols. */
        CLIENTS,
        /** Operators, whose connections are not limited with those of clients. */
        OPERATORS,
        /** The platform that the server runs on. */
        PLATFORM
    }
}
