// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.client.Retries;
import gatun.client.TlsOptions;
import gatun.client.UnreachableException;
import gatun.client.calls.TlsFiles;
import gatun.testing.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS by PEM files: who is believed, and who shows itself. */
@Timeout(60)
class TlsTest {
    private static final String OK = ScriptedServer.ok("{\"model_name\":\"m\",\"outputs\":[]}");

    @TempDir
    static Path folder;

    private static Certificates.Identity serverSide;
    private static Certificates.Identity clientSide;

    @BeforeAll
    static void makeCertificates() {
        Certificates certificates = new Certificates(folder);
        serverSide = certificates.identity("server", "EC", 256);
        clientSide = certificates.identity("client");
    }

    private static ScriptedServer server(boolean clientsShowThemselves) {
        ServerSocketFactory sockets = TlsFiles.context(new TlsOptions(
                        Optional.of(clientSide.certificate()),
                        Optional.of(serverSide.certificate()),
                        Optional.of(serverSide.key())))
                .getServerSocketFactory();
        return ScriptedServer.start(
                new ServerSocketFactory() {
                    @Override
                    public ServerSocket createServerSocket(int port, int backlog, InetAddress address)
                            throws IOException {
                        SSLServerSocket socket = (SSLServerSocket) sockets.createServerSocket(port, backlog, address);
                        socket.setNeedClientAuth(clientsShowThemselves);
                        return socket;
                    }

                    @Override
                    public ServerSocket createServerSocket(int port, int backlog) {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public ServerSocket createServerSocket(int port) {
                        throw new UnsupportedOperationException();
                    }
                },
                "https",
                conversation -> {
                    while (conversation.read().isPresent()) {
                        conversation.say(OK);
                    }
                });
    }

    private static ClientOptions options(ScriptedServer server, TlsOptions tls) {
        return server.options().withTls(tls).withRetries(Retries.NONE);
    }

    @Test
    void shouldSpeakWithAServerWhoseAuthorityItTrusts() throws Exception {
        try (ScriptedServer server = server(false);
                GatunClient client =
                        GatunClient.connect(options(server, TlsOptions.trusting(serverSide.certificate())))) {
            for (int call = 0; call < 3; call++) {
                try (InferResponse response = client.infer("m", ArrayTensors.of("IN", new float[100_000]))) {
                    assertThat(response.model()).isEqualTo("m");
                }
            }
            // Of which the connection is looked at first.
            try (InferResponse response = client.sequence("m").next(ArrayTensors.of("IN", new float[1]))) {
                assertThat(response.model()).isEqualTo("m");
            }
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotSpeakWithAServerThatNobodyVouchesFor() throws Exception {
        try (ScriptedServer server = server(false);
                GatunClient client = GatunClient.connect(options(server, TlsOptions.STANDARD))) {
            assertThatThrownBy(() -> client.infer("m"))
                    .isInstanceOf(UnreachableException.class)
                    .hasMessageContaining("cannot connect to " + server.url());
        }
    }

    @Test
    void shouldNotSpeakWithAServerOfAnotherName() throws Exception {
        try (ScriptedServer server = server(false);
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(server.url().replace("localhost", "127.0.0.2"))
                                .withTls(TlsOptions.trusting(serverSide.certificate()))
                                .withRetries(Retries.NONE))) {
            assertThatThrownBy(() -> client.infer("m")).isInstanceOf(UnreachableException.class);
        }
    }

    @Test
    void shouldShowItselfWhereThatIsWanted() throws Exception {
        try (ScriptedServer server = server(true)) {
            TlsOptions shown = new TlsOptions(
                    Optional.of(serverSide.certificate()),
                    Optional.of(clientSide.certificate()),
                    Optional.of(clientSide.key()));
            try (GatunClient client = GatunClient.connect(options(server, shown));
                    InferResponse response = client.infer("m")) {
                assertThat(response.model()).isEqualTo("m");
            }
            try (GatunClient client =
                    GatunClient.connect(options(server, TlsOptions.trusting(serverSide.certificate())))) {
                assertThatThrownBy(() -> client.infer("m")).isInstanceOf(UnreachableException.class);
            }
        }
    }

    @Test
    void shouldSayThatAServerAskedInPlainTextSpeaksTls() throws Exception {
        byte[] alert = {0x15, 3, 3, 0, 2, 2, 80};
        for (int length : new int[] {1, alert.length}) {
            try (ScriptedServer server = ScriptedServer.sayingOnce(Arrays.copyOf(alert, length));
                    GatunClient client = GatunClient.connect(server.options().withRetries(Retries.NONE))) {
                UnreachableException refused =
                        catchThrowableOfType(UnreachableException.class, () -> client.infer("m"));
                assertThat(refused)
                        .hasMessage("cannot ask " + server.url() + ": the server speaks TLS there: use "
                                + server.url().replace("http:", "https:"));
                assertThat(refused.mayHaveArrived()).isFalse();
            }
        }
        try (ScriptedServer server = server(false);
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(server.url().replace("https:", "http:"))
                                .withRetries(Retries.NONE))) {
            assertThatThrownBy(() -> client.infer("m"))
                    .isInstanceOf(UnreachableException.class)
                    .hasMessageEndingWith("use " + server.url());
        }
    }

    @Test
    void shouldSayThatAServerSpeaksNoTls() throws Exception {
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.say(ScriptedServer.answer("400 Bad Request", ""));
                    conversation.awaitEnd();
                });
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(server.url().replace("http:", "https:"))
                                .withRetries(Retries.NONE))) {
            assertThatThrownBy(() -> client.infer("m"))
                    .isInstanceOf(UnreachableException.class)
                    .hasMessageStartingWith("cannot connect to https:")
                    .hasMessageEndingWith("if it answers in plain text, use " + server.url());
        }
    }

    @Test
    void shouldSayWhichFileIsWrong() throws Exception {
        Path empty = Files.writeString(folder.resolve("empty.pem"), "nothing");
        Path missing = folder.resolve("missing.pem");
        ClientOptions options = ClientOptions.of("https://localhost:1");
        assertThatThrownBy(() -> GatunClient.connect(options.withTls(TlsOptions.trusting(missing))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot read '" + missing
                        + "': no such file or directory; expected a file with certificates in PEM format");
        assertThatThrownBy(() -> GatunClient.connect(options.withTls(TlsOptions.trusting(empty))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "'" + empty + "' has no certificate that Java can read: expected certificates in PEM");
        assertThatThrownBy(() -> GatunClient.connect(options.withTls(
                        new TlsOptions(Optional.empty(), Optional.of(clientSide.certificate()), Optional.of(empty)))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no private key that Java knows");
    }
}
