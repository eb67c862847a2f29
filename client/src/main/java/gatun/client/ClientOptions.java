// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which server a {@link GatunClient} speaks to, and how. Immutable: each {@code with} method returns changed options.
 *
 * @param server where the server is: see {@link #of}
 * @param headers sent with every call, as HTTP headers or gRPC metadata
 * @param deadline how long each call may take, its retries included; empty for any time
 * @param retries which failed calls are made again
 * @param tls how servers are known, for addresses of TLS
 * @param compression how requests are compressed; responses then may be too
 * @param binaryTensors whether tensors travel as bytes over HTTP; otherwise as JSON, for servers that do not know
 *     better
 */
public record ClientOptions(
        ServerAddress server,
        Map<String, String> headers,
        Optional<Duration> deadline,
        Retries retries,
        TlsOptions tls,
        Compression compression,
        boolean binaryTensors) {
    /** Keeps a copy of the headers. */
    public ClientOptions {
        headers = Map.copyOf(headers);
        deadline.ifPresent(ClientOptions::requirePositive);
    }

    /**
     * The standard options for the server at {@code url}, which {@link ServerAddress#parse} explains: no deadline,
     * {@link Retries#STANDARD}, no compression.
     */
    public static ClientOptions of(String url) {
        return new ClientOptions(
                ServerAddress.parse(url),
                Map.of(),
                Optional.empty(),
                Retries.STANDARD,
                TlsOptions.STANDARD,
                Compression.NONE,
                true);
    }

    /** With one more header. */
    public ClientOptions withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new ClientOptions(server, more, deadline, retries, tls, compression, binaryTensors);
    }

    /** With a token that tells the server who asks: the header {@code authorization: Bearer TOKEN}. */
    public ClientOptions withToken(String token) {
        return withHeader("authorization", "Bearer " + token);
    }

    /** With that much time for each call. */
    public ClientOptions withDeadline(Duration newDeadline) {
        return new ClientOptions(server, headers, Optional.of(newDeadline), retries, tls, compression, binaryTensors);
    }

    /** With other retries. */
    public ClientOptions withRetries(Retries newRetries) {
        return new ClientOptions(server, headers, deadline, newRetries, tls, compression, binaryTensors);
    }

    /** With other settings of TLS. */
    public ClientOptions withTls(TlsOptions newTls) {
        return new ClientOptions(server, headers, deadline, retries, newTls, compression, binaryTensors);
    }

    /** With compression. */
    public ClientOptions withCompression(Compression newCompression) {
        return new ClientOptions(server, headers, deadline, retries, tls, newCompression, binaryTensors);
    }

    /** With tensors as bytes or as JSON over HTTP. */
    public ClientOptions withBinaryTensors(boolean binary) {
        return new ClientOptions(server, headers, deadline, retries, tls, compression, binary);
    }

    private static void requirePositive(Duration deadline) {
        if (!deadline.isPositive()) {
            throw new IllegalArgumentException("a deadline of " + deadline + ": expected more than nothing");
        }
    }
}
