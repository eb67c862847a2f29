// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which server a {@link GatunClient} speaks to, and how. Immutable: each {@code with} method returns changed options.
 *
 * @param servers where the server is, or several that serve the same models: see {@link #withServers}
 * @param headers sent with every call, as HTTP headers or gRPC metadata
 * @param deadline how long each call may take, its retries included; empty for any time
 * @param retries which failed calls are made again
 * @param tls how servers are known, for addresses of TLS
 * @param compression how requests are compressed; responses then may be too
 * @param binaryTensors whether tensors travel as bytes over HTTP; otherwise as JSON, for servers that do not know
 *     better
 */
public record ClientOptions(
        List<ServerAddress> servers,
        Map<String, String> headers,
        Optional<Duration> deadline,
        Retries retries,
        TlsOptions tls,
        Compression compression,
        boolean binaryTensors) {
    /**
     * Keeps copies.
     *
     * @throws IllegalArgumentException when there is no server, or one of several is not of HTTP or gRPC
     */
    public ClientOptions {
        servers = List.copyOf(servers);
        requireServers(servers);
        headers = Map.copyOf(headers);
        deadline.ifPresent(ClientOptions::requirePositive);
    }

    /** The standard options for {@code url} ({@link ServerAddress#parse}): {@link Retries#STANDARD}, no deadline. */
    public static ClientOptions of(String url) {
        return new ClientOptions(
                List.of(ServerAddress.parse(url)),
                Map.of(),
                Optional.empty(),
                Retries.STANDARD,
                TlsOptions.STANDARD,
                Compression.NONE,
                true);
    }

    /** Where the server is; the first of several. */
    public ServerAddress server() {
        return servers.getFirst();
    }

    /**
     * With more servers, of the same models, over HTTP or gRPC. Each request goes to the one that has the fewest of this
     * client's under way, and to another if that one fails; see {@link GatunClient#connect(ClientOptions)}.
     *
     * @throws IllegalArgumentException when one is no address, or one of a lane
     */
    public ClientOptions withServers(String... urls) {
        List<ServerAddress> more = new ArrayList<>(servers);
        for (String url : urls) {
            more.add(ServerAddress.parse(url));
        }
        return withServers(more);
    }

    /** With these servers in place of those that were there. */
    public ClientOptions withServers(List<ServerAddress> others) {
        return new ClientOptions(others, headers, deadline, retries, tls, compression, binaryTensors);
    }

    /** With one more header. */
    public ClientOptions withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new ClientOptions(servers, more, deadline, retries, tls, compression, binaryTensors);
    }

    /** With a token that tells the server who asks: the header {@code authorization: Bearer TOKEN}. */
    public ClientOptions withToken(String token) {
        return withHeader("authorization", "Bearer " + token);
    }

    /** With that much time for each call. */
    public ClientOptions withDeadline(Duration newDeadline) {
        return new ClientOptions(servers, headers, Optional.of(newDeadline), retries, tls, compression, binaryTensors);
    }

    /** With other retries. */
    public ClientOptions withRetries(Retries newRetries) {
        return new ClientOptions(servers, headers, deadline, newRetries, tls, compression, binaryTensors);
    }

    /** With other settings of TLS. */
    public ClientOptions withTls(TlsOptions newTls) {
        return new ClientOptions(servers, headers, deadline, retries, newTls, compression, binaryTensors);
    }

    /** With compression. */
    public ClientOptions withCompression(Compression newCompression) {
        return new ClientOptions(servers, headers, deadline, retries, tls, newCompression, binaryTensors);
    }

    /** With tensors as bytes or as JSON over HTTP. */
    public ClientOptions withBinaryTensors(boolean binary) {
        return new ClientOptions(servers, headers, deadline, retries, tls, compression, binary);
    }

    private static void requireServers(List<ServerAddress> servers) {
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("no server to ask: expected at least one");
        }
        for (ServerAddress server : servers) {
            if (servers.size() > 1 && server.protocol() == ServerAddress.Protocol.LANE) {
                throw new IllegalArgumentException(
                        server + " is one of " + servers.size()
                                + " servers: a lane leads to a server of this machine alone; expected addresses of HTTP or gRPC");
            }
        }
    }

    private static void requirePositive(Duration deadline) {
        if (!deadline.isPositive()) {
            throw new IllegalArgumentException("a deadline of " + deadline + ": expected more than nothing");
        }
    }
}
