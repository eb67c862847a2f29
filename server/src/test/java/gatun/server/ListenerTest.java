// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Kind;
import gatun.server.settings.StartException;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListenerTest {
    private static final Duration GRACE = Duration.ofSeconds(1);

    @TempDir
    Path folder;

    private static Listener listen(SocketAddress address) {
        return listen(Kind.HTTP, address);
    }

    private static Listener listen(Kind kind, SocketAddress address) {
        return new Listener.Prepared(
                        new Endpoint(kind, address),
                        new OpenConnections(ConnectionLimits.STANDARD),
                        GRACE,
                        server -> server.addConnectionSelector(Http1ConnectionSelector.builder()
                                        .config(Http1Config.create())
                                        .build())
                                .routing(HttpRouting.builder().get("/", (request, response) -> response.send("here"))))
                .start();
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Test
    void shouldAnswerOnAFreePort() throws Exception {
        try (Listener listener = listen(loopback(0));
                HttpClient client = HttpClient.newHttpClient()) {
            assertThat(listener.endpoint().port().orElseThrow()).isPositive();
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create(listener.endpoint().url()))
                    .timeout(Duration.ofSeconds(10))
                    .build();
            assertThat(client.send(request, HttpResponse.BodyHandlers.ofString())
                            .body())
                    .isEqualTo("here");
        }
    }

    @Test
    void shouldNameThePortAndTheFlagWhereAPortIsInUse() throws Exception {
        try (ServerSocketChannel other = ServerSocketChannel.open().bind(loopback(0));
                ResourceStack held = new ResourceStack()) {
            int port = ((InetSocketAddress) other.getLocalAddress()).getPort();
            assertThatThrownBy(() -> Listener.reserve(new Endpoint(Kind.GRPC, loopback(port)), held))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("--grpc-port=" + port + ": port " + port + " is in use");
        }
    }

    @Test
    void shouldFindTwoListenersOnOnePort() throws Exception {
        int port;
        try (ServerSocketChannel free = ServerSocketChannel.open().bind(loopback(0))) {
            port = ((InetSocketAddress) free.getLocalAddress()).getPort();
        }
        try (ResourceStack held = new ResourceStack()) {
            Listener.reserve(new Endpoint(Kind.HTTP, loopback(port)), held);
            assertThatThrownBy(() -> Listener.reserve(new Endpoint(Kind.METRICS, loopback(port)), held))
                    .hasMessageContaining("--metrics-port=" + port);
        }
    }

    @Test
    void shouldNameTheFlagOfAnAddressThatIsNotHere() {
        try (ResourceStack held = new ResourceStack()) {
            assertThatThrownBy(() ->
                            Listener.reserve(new Endpoint(Kind.HTTP, new InetSocketAddress("192.0.2.1", 0)), held))
                    .hasMessageContaining("--http-address=192.0.2.1: cannot listen there");
            assertThatThrownBy(() -> Listener.reserve(
                            new Endpoint(Kind.HTTP, InetSocketAddress.createUnresolved("nowhere.invalid", 0)), held))
                    .hasMessageContaining("--http-address=nowhere.invalid: cannot listen there (the name is unknown)");
        }
    }

    @Test
    void shouldOpenAUnixSocketToUserAndGroupAndRemoveItAtStop() throws Exception {
        Path path = folder.resolve("http.sock");
        try (Listener listener = listen(UnixDomainSocketAddress.of(path))) {
            assertThat(listener.endpoint().url()).isEqualTo("unix:" + path);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-rw----");
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
                assertThat(client.isConnected()).isTrue();
            }
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldRemoveTheSocketOfAServerThatIsGone() throws Exception {
        Path path = folder.resolve("stale.sock");
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(path))
                .close();
        assertThat(path).exists();
        try (ResourceStack held = new ResourceStack()) {
            Listener.reserve(new Endpoint(Kind.HTTP, UnixDomainSocketAddress.of(path)), held);
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldLeaveTheSocketOfARunningServerAlone() throws Exception {
        Path path = folder.resolve("used.sock");
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(path);
        try (ServerSocketChannel other =
                        ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
                ResourceStack held = new ResourceStack()) {
            assertThatThrownBy(() -> Listener.reserve(new Endpoint(Kind.HTTP, address), held))
                    .hasMessageContaining("--http-unix-socket=" + path + ": another server listens there");
            assertThat(other.isOpen()).isTrue();
        }
        assertThat(path).exists();
    }

    /** As gRPC's core does it. */
    @Test
    @SuppressWarnings("try") // closed before the end, which is harmless
    void shouldTakeOverTheSocketOfARunningGrpcServer() throws Exception {
        Path path = folder.resolve("shared.sock");
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(path);
        ServerSocketChannel other =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
        try (ResourceStack held = new ResourceStack()) {
            Listener.reserve(new Endpoint(Kind.GRPC, address), held);
            try (SocketChannel client = SocketChannel.open(address)) {
                assertThat(client.isConnected())
                        .as("until the new server listens")
                        .isTrue();
            }
        }
        try (Listener first = listen(Kind.GRPC, address)) {
            other.close();
            try (SocketChannel client = SocketChannel.open(address)) {
                assertThat(client.isConnected()).isTrue();
            }
            try (Listener second = listen(Kind.GRPC, address)) {
                first.close();
                assertThat(path).as("the socket of the second").exists();
                assertThat(second.endpoint().address()).isEqualTo(address);
            }
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldLeaveAFileThatIsNoSocketAlone() throws Exception {
        Path path = Files.writeString(folder.resolve("file"), "mine");
        try (ResourceStack held = new ResourceStack()) {
            assertThatThrownBy(() -> Listener.reserve(new Endpoint(Kind.HTTP, UnixDomainSocketAddress.of(path)), held))
                    .hasMessageContaining("is not a socket");
        }
        assertThat(path).hasContent("mine");
    }
}
