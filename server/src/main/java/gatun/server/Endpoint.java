// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.OptionalInt;

/**
 * A place where the server listens.
 *
 * @param protocol the protocol there
 * @param address the address, with the real port
 */
record Endpoint(Protocol protocol, SocketAddress address) {
    enum Protocol {
        /** HTTP requests. */
        HTTP("HTTP", "http", "http://", ""),
        /** HTTP requests over TLS. */
        HTTPS("HTTP", "http", "https://", ""),
        /** gRPC requests. */
        GRPC("gRPC", "grpc", "", ""),
        /** The same, where clients of TensorFlow Serving look for it. */
        TENSORFLOW_GRPC("gRPC", "tensorflow-grpc", "", ""),
        /** TensorFlow Serving's protocol over HTTP, and no other. */
        TENSORFLOW_REST("REST", "rest", "http://", "/v1"),
        /** The console, and HTTP requests beside it. */
        CONSOLE("Console", "console", "http://", "/console"),
        /** The same over TLS. */
        CONSOLE_HTTPS("Console", "console", "https://", "/console"),
        /** Vertex AI's requests. */
        VERTEX_AI("Vertex AI", "vertex-ai", "http://", ""),
        /** SageMaker's requests. */
        SAGEMAKER("SageMaker", "sagemaker", "http://", ""),
        /** Metrics, read over HTTP. */
        METRICS("Metrics", "metrics", "http://", "/metrics");

        private final String title;
        private final String key;
        private final String scheme;
        private final String path;

        Protocol(String title, String key, String scheme, String path) {
            this.title = title;
            this.key = key;
            this.scheme = scheme;
            this.path = path;
        }

        /** The name for people to read. */
        String title() {
            return title;
        }

        /** The name in files and flags: {@code --http-port} and the like begin with it. */
        String key() {
            return key;
        }
    }

    /** The address for clients: a URL for HTTP, a target for gRPC. */
    String url() {
        if (address instanceof UnixDomainSocketAddress unix) {
            return "unix:" + unix.getPath();
        }
        InetSocketAddress tcp = (InetSocketAddress) address;
        return protocol.scheme + host(tcp) + ":" + tcp.getPort() + protocol.path;
    }

    /** The address in the form that {@code gatun.client} takes. */
    String clientUrl() {
        boolean grpc = protocol == Protocol.GRPC || protocol == Protocol.TENSORFLOW_GRPC;
        if (address instanceof UnixDomainSocketAddress) {
            return grpc ? "grpc+" + url() : url();
        }
        return grpc ? "grpc://" + url() : url();
    }

    /** The port; empty for a Unix socket. */
    OptionalInt port() {
        return address instanceof InetSocketAddress tcp ? OptionalInt.of(tcp.getPort()) : OptionalInt.empty();
    }

    /** Whether clients of the server's own protocols ask there. */
    boolean forClients() {
        return switch (protocol) {
            case HTTP, HTTPS, GRPC, TENSORFLOW_GRPC, TENSORFLOW_REST -> true;
            case METRICS, CONSOLE, CONSOLE_HTTPS, VERTEX_AI, SAGEMAKER -> false;
        };
    }

    /** Whether it takes connections from every network that the machine is on. */
    boolean open() {
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
}
