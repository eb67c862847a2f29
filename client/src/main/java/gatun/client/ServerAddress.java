// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The address of a server, and the protocol spoken there.
 *
 * @param url as the user wrote it, for error texts
 * @param protocol HTTP, gRPC or lanes
 * @param host the host, as certificates and the Host header name it; {@code localhost} for a Unix socket
 * @param port the port; 0 for a Unix socket
 * @param unixSocket the socket's path; empty where it is TCP
 * @param tls whether TLS is spoken
 * @param path a prefix of every path over HTTP, without a slash at its end; mostly empty
 */
public record ServerAddress(
        String url, Protocol protocol, String host, int port, String unixSocket, boolean tls, String path) {
    private static final int HTTP_PORT = 8000;
    private static final int GRPC_PORT = 8001;
    private static final int HTTPS_PORT = 443;
    private static final int GREATEST_PORT = 65_535;

    /** The protocol spoken at an address. */
    public enum Protocol {
        /** HTTP/1.1. */
        HTTP,
        /** gRPC. */
        GRPC,
        /** Inference in shared memory, and HTTP/1.1 over a Unix socket for everything else. */
        LANE
    }

    /**
     * Understands {@code http://HOST[:PORT][/PATH]} and {@code https://…} for HTTP, {@code grpc://HOST[:PORT]} and
     * {@code grpcs://…} for gRPC, {@code unix:/PATH} for HTTP and {@code grpc+unix:/PATH} for gRPC over a Unix socket,
     * {@code lane:/PATH} for inference in shared memory beside a Unix socket for HTTP, and {@code HOST:PORT} for HTTP. Without a port it is 8000 for HTTP, 443 for HTTPS and 8001 for gRPC.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static ServerAddress parse(String url) {
        if (url.startsWith("unix:")) {
            return unix(url, Protocol.HTTP, url.substring("unix:".length()));
        }
        if (url.startsWith("lane:")) {
            return unix(url, Protocol.LANE, url.substring("lane:".length()));
        }
        if (url.startsWith("grpc+unix:")) {
            return unix(url, Protocol.GRPC, url.substring("grpc+unix:".length()));
        }
        URI uri;
        try {
            uri = new URI(url.contains("://") ? url : "http://" + url);
        } catch (URISyntaxException e) {
            throw malformed(url);
        }
        if (uri.getHost() == null
                || uri.getPort() > GREATEST_PORT
                || uri.getRawQuery() != null
                || uri.getRawFragment() != null
                || uri.getRawUserInfo() != null) {
            throw malformed(url);
        }
        String path = uri.getRawPath().replaceAll("/+$", "");
        return switch (uri.getScheme().toLowerCase(Locale.ROOT)) {
            case "http" -> tcp(url, Protocol.HTTP, uri, HTTP_PORT, false, path);
            case "https" -> tcp(url, Protocol.HTTP, uri, HTTPS_PORT, true, path);
            case "grpc" -> tcp(url, Protocol.GRPC, uri, GRPC_PORT, false, requireNone(url, path));
            case "grpcs" -> tcp(url, Protocol.GRPC, uri, GRPC_PORT, true, requireNone(url, path));
            default -> throw malformed(url);
        };
    }

    /** The address to connect to, looked up anew. */
    public SocketAddress socketAddress() {
        return unixSocket.isEmpty()
                ? new InetSocketAddress(host, port)
                : UnixDomainSocketAddress.of(Path.of(unixSocket));
    }

    /** Whether it is on a Unix socket. */
    public boolean isUnix() {
        return !unixSocket.isEmpty();
    }

    /** As the user wrote it. */
    @Override
    public String toString() {
        return url;
    }

    private static ServerAddress unix(String url, Protocol protocol, String path) {
        String plain = path.startsWith("//") ? path.substring(2) : path;
        if (plain.isEmpty()) {
            throw malformed(url);
        }
        return new ServerAddress(url, protocol, "localhost", 0, plain, false, "");
    }

    private static ServerAddress tcp(String url, Protocol protocol, URI uri, int port, boolean tls, String path) {
        String host = uri.getHost().replaceAll("^\\[|]$", "");
        return new ServerAddress(url, protocol, host, uri.getPort() < 0 ? port : uri.getPort(), "", tls, path);
    }

    private static String requireNone(String url, String path) {
        if (!path.isEmpty()) {
            throw malformed(url);
        }
        return path;
    }

    private static IllegalArgumentException malformed(String url) {
        return new IllegalArgumentException(
                "'" + url + "' is no address of a server: expected http://HOST:PORT, https://HOST:PORT,"
                        + " grpc://HOST:PORT, grpcs://HOST:PORT, unix:/PATH, grpc+unix:/PATH or lane:/PATH");
    }
}
