// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.client.Retries;
import gatun.client.TlsOptions;
import gatun.client.UnreachableException;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Certificates;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The servers that the Java client trusts over gRPC, and its errors where it cannot connect. */
@Timeout(120)
class ClientGrpcAccessIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    static Path folder;

    private static Certificates.Identity identity;
    private static Certificates.Identity own;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(ClientGrpcAccessIT::start);

    private static ServerProcess start() throws Exception {
        Certificates certificates = new Certificates(folder);
        identity = certificates.identity("server");
        own = certificates.identity("client");
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--grpc-use-ssl-mutual=true",
                "--grpc-server-cert=" + identity.certificate(),
                "--grpc-server-key=" + identity.key(),
                "--grpc-root-cert=" + own.certificate());
    }

    private static ClientOptions options(TlsOptions tls) {
        return ClientOptions.of("grpcs://localhost:" + server.grpcPort())
                .withTls(tls)
                .withRetries(Retries.NONE);
    }

    @Test
    void shouldKnowTheServerAndShowItsCertificate() {
        TlsOptions both = new TlsOptions(
                Optional.of(identity.certificate()), Optional.of(own.certificate()), Optional.of(own.key()));
        try (GatunClient client = GatunClient.connect(options(both));
                InferResponse response = client.infer(
                        "simple",
                        ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16),
                        ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16))) {
            assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
        }
    }

    @Test
    void shouldNotTrustAServerThatNobodyVouchesFor() {
        try (GatunClient client = GatunClient.connect(options(TlsOptions.trusting(own.certificate())))) {
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.server().metadata())
                    .satisfies(e -> assertThat(e.mayHaveArrived()).isFalse());
        }
    }

    @Test
    void shouldTellThatTheServerWantsACertificate() {
        try (GatunClient client = GatunClient.connect(options(TlsOptions.trusting(identity.certificate())))) {
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.server().metadata());
        }
    }

    @Test
    void shouldTellWhichFileIsNoCertificate() {
        Path missing = folder.resolve("missing.pem");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GatunClient.connect(options(TlsOptions.trusting(missing))))
                .withMessageContaining("missing.pem");
    }

    /** A main class, on a class path without grpc-netty-shaded. */
    @Test
    void shouldSayWhichTransportIsMissing() throws Exception {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("grpc-netty"))
                .collect(Collectors.joining(File.pathSeparator));
        try (ChildJvm child = ChildJvm.launch(
                classPath, Map.of(), SharedTensorsOwner.class.getName(), List.of("grpc://localhost:1", "sealed"))) {
            assertThatThrownBy(() -> child.awaitEnd(LIMIT))
                    .hasMessageContaining("no transport for gRPC is on the class path: add io.grpc:grpc-netty-shaded");
        }
    }
}
