// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.Retries;
import gatun.client.TlsOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags that say which server is asked, and how. */
final class TargetFlags {
    /** The protocol of a server. */
    enum Protocol {
        V2,
        TENSORFLOW
    }

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            split = ",",
            description = {
                "Where the server is: http://HOST:PORT, https://, grpc://, grpcs://, unix:/PATH or grpc+unix:/PATH."
                        + " Several by comma, or by several flags: each is measured. (http://localhost:8000)"
            })
    List<String> urls = new ArrayList<>();

    @Option(
            names = "--embedded",
            paramLabel = "DIR",
            description = "Serve the model repository DIR within this process, and measure that; with --url both are.")
    Optional<Path> embedded = Optional.empty();

    @Option(
            names = "--protocol",
            paramLabel = "v2|tensorflow",
            converter = FlagValue.ProtocolName.class,
            description = "What the server speaks: the Open Inference Protocol, or TensorFlow Serving's. (v2)")
    Protocol protocol = Protocol.V2;

    @Option(
            names = "--signature",
            paramLabel = "NAME",
            description = "The signature that is asked, with --protocol=tensorflow. (serving_default)")
    String signature = "serving_default";

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            split = ",",
            description = {
                "How tensors travel: binary, json (HTTP only), stream (gRPC only), lane (to lane:/PATH only), and"
                        + " posix, sealed or cuda for shared memory; put together by +, such as stream+posix. Several by"
                        + " comma: each is measured. (binary; lane to lane:/PATH)"
            })
    List<String> transports = new ArrayList<>();

    @Option(
            names = {"-H", "--header"},
            paramLabel = "NAME:VALUE",
            converter = FlagValue.Header.class,
            description = "Send this header, or gRPC metadata, with every request. May be given several times.")
    List<Map.Entry<String, String>> headers = new ArrayList<>();

    @Option(names = "--token", paramLabel = "TOKEN", description = "Send 'authorization: Bearer TOKEN'.")
    Optional<String> token = Optional.empty();

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) of who signed the server's. (those that Java trusts)")
    Optional<Path> authorities = Optional.empty();

    @Option(names = "--tls-certificate", paramLabel = "FILE", description = "This client's certificate (PEM).")
    Optional<Path> certificate = Optional.empty();

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "The private key of --tls-certificate (PEM, PKCS 8).")
    Optional<Path> key = Optional.empty();

    @Option(
            names = "--compression",
            paramLabel = "none|gzip|deflate",
            converter = FlagValue.CompressionName.class,
            description = "How requests are compressed. (none)")
    Compression compression = Compression.NONE;

    @Option(
            names = "--deadline",
            paramLabel = "TIME",
            converter = FlagValue.Time.class,
            description = "A request that takes longer has failed. (60s)")
    Duration deadline = Duration.ofSeconds(60);

    /** The options for the server at {@code url}. Nothing is retried: a request that fails has failed. */
    ClientOptions options(String url) {
        ClientOptions options = ClientOptions.of(url)
                .withRetries(Retries.NONE)
                .withCompression(compression)
                .withDeadline(deadline)
                .withTls(new TlsOptions(authorities, certificate, key));
        for (Map.Entry<String, String> header : headers) {
            options = options.withHeader(header.getKey(), header.getValue());
        }
        return token.isPresent() ? options.withToken(token.get()) : options;
    }
}
