// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Certificates;
import gatun.testing.Python;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The gRPC port of the real server over mutual TLS. */
@Timeout(120)
class GrpcTlsIT {
    private static final Path SCRIPT = ServerProcess.root().resolve("it/src/test/python/tls_client.py");

    @TempDir
    static Path folder;

    private static Certificates.Identity identity;
    private static Certificates.Identity client;

    @AutoClose
    private static ServerProcess server;

    @BeforeAll
    static void start() throws Exception {
        Certificates certificates = new Certificates(folder);
        identity = certificates.identity("server");
        client = certificates.identity("client");
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--grpc-use-ssl-mutual=true",
                "--grpc-server-cert=" + identity.certificate(),
                "--grpc-server-key=" + identity.key(),
                "--grpc-root-cert=" + client.certificate(),
                "--grpc-unix-socket=" + folder.resolve("grpc.sock"));
    }

    private static void assertInfers(ManagedChannel channel) {
        ModelInferResponse response = GRPCInferenceServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .modelInfer(SimpleModel.grpc());
        assertThat(SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer()))
                .isEqualTo(SimpleModel.SUM);
    }

    @Test
    void shouldInferForAClientWithACertificate() throws Exception {
        assertInfersWithACertificate(server);
    }

    @Test
    void shouldServeAsTensorFlowServingsFileSays() throws Exception {
        Path file = folder.resolve("ssl.txt");
        Files.writeString(
                file,
                "server_key: " + quoted(identity.key()) + " server_cert: " + quoted(identity.certificate())
                        + " custom_ca: " + quoted(client.certificate()) + " client_verify: true");
        try (ServerProcess secured = ServerProcess.launch(ServerProcess.exampleModels(), "--ssl_config_file=" + file)) {
            assertInfersWithACertificate(secured);
        }
    }

    private static String quoted(Path file) throws IOException {
        return '"' + Files.readString(file).replace("\n", "\\n") + '"';
    }

    private static void assertInfersWithACertificate(ServerProcess server) throws Exception {
        ManagedChannel channel = Grpc.newChannelBuilderForAddress(
                        "localhost",
                        server.grpcPort(),
                        TlsChannelCredentials.newBuilder()
                                .trustManager(identity.certificate().toFile())
                                .keyManager(
                                        client.certificate().toFile(),
                                        client.key().toFile())
                                .build())
                .build();
        try {
            assertInfers(channel);
        } finally {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldServeTheUnixSocketWithoutTls() {
        try (GrpcClient local = GrpcClient.unix(Path.of(server.ready("grpc.unix-socket")))) {
            assertInfers(local.channel());
        }
    }

    @Test
    void shouldServeTheCCore() throws Exception {
        Path output = folder.resolve("client.out");
        Process process = new ProcessBuilder(
                        Python.with("grpc"),
                        "-B",
                        SCRIPT.toString(),
                        "localhost:" + server.grpcPort(),
                        identity.certificate().toString(),
                        client.key().toString(),
                        client.certificate().toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended;
        try {
            ended = process.waitFor(90, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly();
        }
        assertThat(ended)
                .as("the client's end after\n%s", Files.readString(output))
                .isTrue();
        assertThat(Files.readString(output)).endsWith("all ok\n");
    }

    @Test
    void shouldNameTheFileWithoutWhichItCannotStart() {
        Path missing = folder.resolve("missing.pem");

        ServerProcess refused = ServerProcess.run(
                "serve",
                "--model-repository=" + ServerProcess.exampleModels(),
                "--grpc-use-ssl=true",
                "--grpc-server-cert=" + missing,
                "--grpc-server-key=" + identity.key());

        assertThat(refused.awaitExit(java.time.Duration.ofSeconds(20))).isNotZero();
        assertThat(refused.log()).contains("--grpc-server-cert=" + missing + ": there is no such file");
    }
}
