// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.ServerAddress;
import gatun.client.calls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Opens connections to one server. Immutable and safe for any thread. */
final class Connector {
    private final ServerAddress server;
    private final @Nullable SSLContext tls;

    /** Throws {@link IllegalArgumentException} when files of TLS are missing or wrong. */
    Connector(ClientOptions options) {
        this.server = options.server();
        this.tls = server.tls() ? TlsFiles.context(options.tls()) : null;
    }

    /** Where the server may be, looked up anew: all addresses of its name, in the system's order. */
    List<SocketAddress> addresses() throws IOException {
        if (server.isUnix()) {
            return List.of(server.socketAddress());
        }
        List<SocketAddress> addresses = new ArrayList<>();
        for (InetAddress address : InetAddress.getAllByName(server.host())) {
            addresses.add(new InetSocketAddress(address, server.port()));
        }
        return addresses;
    }

    /** A channel that is not connected. */
    SocketChannel channel() throws IOException {
        return server.isUnix() ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
    }

    HttpConnection connect(WatchedChannel watched, SocketAddress address) throws IOException {
        SocketChannel channel = watched.channel();
        channel.connect(address);
        if (!server.isUnix()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        Wire wire = tls == null ? new SocketWire(channel) : TlsWire.over(channel, tls, server.host(), server.port());
        return new HttpConnection(watched, wire);
    }
}
