// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.server.settings.CloudSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.ConsoleSettings;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A place where to listen.
 *
 * @param protocol the protocol there
 * @param address the address; a port of 0 stands for any free one
 */
record ListenAddress(Endpoint.Protocol protocol, SocketAddress address) {
    /** All places that {@code listeners} name. */
    static List<ListenAddress> of(ListenerSettings listeners) {
        List<ListenAddress> addresses = new ArrayList<>();
        ListenerSettings.TensorFlowServingSettings tensorFlow = listeners.tensorFlow();
        ListenerSettings.BindSettings http = listeners.http().bind();
        if (http.enabled()) {
            addresses.add(onPort(
                    http.tls().isPresent() ? Endpoint.Protocol.HTTPS : Endpoint.Protocol.HTTP,
                    http.address(),
                    http.port()));
            addUnixSocket(addresses, Endpoint.Protocol.HTTP, http.unixSocket());
        }
        if (tensorFlow.restPort() != 0) {
            addresses.add(onPort(Endpoint.Protocol.TENSORFLOW_REST, http.address(), tensorFlow.restPort()));
        }
        ListenerSettings.BindSettings grpc = listeners.grpc().bind();
        if (grpc.enabled()) {
            addresses.add(onPort(Endpoint.Protocol.GRPC, grpc.address(), grpc.port()));
        }
        if (grpc.enabled() || tensorFlow.grpcPort() != 0) {
            addUnixSocket(addresses, Endpoint.Protocol.GRPC, grpc.unixSocket());
        }
        if (tensorFlow.grpcPort() != 0) {
            addresses.add(onPort(Endpoint.Protocol.TENSORFLOW_GRPC, grpc.address(), tensorFlow.grpcPort()));
        }
        ListenerSettings.MetricsSettings metrics = listeners.metrics();
        if (metrics.enabled()) {
            addresses.add(onPort(Endpoint.Protocol.METRICS, metrics.address().orElse(http.address()), metrics.port()));
        }
        ConsoleSettings console = listeners.console();
        if (console.enabled() && console.port().isPresent()) {
            addresses.add(onPort(
                    http.tls().isPresent() ? Endpoint.Protocol.CONSOLE_HTTPS : Endpoint.Protocol.CONSOLE,
                    console.address().orElse(http.address()),
                    console.port().get()));
        }
        addCloud(
                addresses,
                Endpoint.Protocol.SAGEMAKER,
                listeners.cloud().sageMaker().bind(),
                http.address());
        addCloud(
                addresses,
                Endpoint.Protocol.VERTEX_AI,
                listeners.cloud().vertexAi().bind(),
                http.address());
        return addresses;
    }

    private static void addCloud(
            List<ListenAddress> addresses, Endpoint.Protocol protocol, CloudSettings.Bind bind, String standard) {
        if (bind.enabled()) {
            addresses.add(onPort(protocol, bind.address().orElse(standard), bind.port()));
        }
    }

    private static ListenAddress onPort(Endpoint.Protocol protocol, String address, int port) {
        return new ListenAddress(protocol, new InetSocketAddress(address, port));
    }

    /** A Unix socket is protected by its mode, and clients that could use TLS there are hardly known. */
    private static void addUnixSocket(
            List<ListenAddress> addresses, Endpoint.Protocol protocol, Optional<Path> unixSocket) {
        unixSocket.ifPresent(path -> addresses.add(onUnixSocket(protocol, path)));
    }

    static ListenAddress onUnixSocket(Endpoint.Protocol protocol, Path path) {
        return new ListenAddress(protocol, UnixDomainSocketAddress.of(path));
    }

    /** Whether operators, and not clients, connect there. */
    boolean forOperators() {
        return switch (protocol) {
            case METRICS, CONSOLE, CONSOLE_HTTPS -> true;
            case HTTP, HTTPS, GRPC, TENSORFLOW_GRPC, TENSORFLOW_REST, VERTEX_AI, SAGEMAKER -> false;
        };
    }
}
