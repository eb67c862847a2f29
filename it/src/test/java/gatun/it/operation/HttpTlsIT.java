// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Certificates;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The HTTP port of the real server over mutual TLS. */
@Timeout(120)
class HttpTlsIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    static Path folder;

    private static Certificates.Identity identity;
    private static Certificates.Identity client;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(HttpTlsIT::start);

    private static ServerProcess start() throws Exception {
        Certificates certificates = new Certificates(folder);
        identity = certificates.identity("server");
        client = certificates.identity("client");
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--http-server-cert=" + identity.certificate(),
                "--http-server-key=" + identity.key(),
                "--http-root-cert=" + client.certificate());
    }

    private static HttpResponse<String> infer(Optional<Certificates.Identity> shown) throws Exception {
        try (HttpClient http = HttpClient.newBuilder()
                .connectTimeout(LIMIT)
                .sslContext(Certificates.client(identity.certificate(), shown))
                .build()) {
            return http.send(
                    SimpleModel.binary(server.http("/v2/models/simple/infer"))
                            .timeout(LIMIT)
                            .build(),
                    HttpResponse.BodyHandlers.ofString(StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void shouldInferForClientsWithACertificateOnly() throws Exception {
        assertThat(server.process().ready("http.url")).startsWith("https://");
        assertThat(infer(Optional.of(client)).statusCode()).isEqualTo(200);
        assertThatThrownBy(() -> infer(Optional.empty())).isInstanceOf(IOException.class);
        assertThat(infer(Optional.of(client)).body()).contains("\"OUTPUT0\"");
    }

    @Test
    void shouldNameTheFileWithoutWhichItCannotStart() {
        Path missing = folder.resolve("missing.pem");

        ServerProcess refused = ServerProcess.run(
                "serve",
                "--model-repository=" + ServerProcess.exampleModels(),
                "--http-server-cert=" + identity.certificate(),
                "--http-server-key=" + missing);

        assertThat(refused.awaitExit(LIMIT)).isNotZero();
        assertThat(refused.log()).contains("--http-server-key=" + missing + ": there is no such file");
    }
}
