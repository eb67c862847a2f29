// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.OtherMachine;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which pages are the server's own, for browsers on this machine and elsewhere, and what others may do. */
@Timeout(120)
class OriginsIT {
    private static final String INDEX = "/v2/repository/index";
    private static final String INFER = "/v2/models/simple/infer";

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(() -> ServerProcess.launch(
            ServerProcess.exampleModels(),
            "--http-address=0.0.0.0",
            "--http-unix-socket=" + folder.resolve("http"),
            "--http-cors-allow-origin=https://listed.example"));

    private static SocketAddress loopback() throws Exception {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.httpPort());
    }

    /** Any host is accepted there. */
    private static SocketAddress socket() {
        return UnixDomainSocketAddress.of(folder.resolve("http"));
    }

    private static String own() {
        return "localhost:" + server.httpPort();
    }

    /** The status of the response to a page's request, and the line ends of the headers. */
    private static String post(SocketAddress address, String path, String host, String origin, String... more)
            throws Exception {
        String body = path.equals(INFER) ? SimpleModel.json() : "";
        try (RawHttp connection = RawHttp.connect(address)) {
            String head = "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin + "\r\n"
                    + (more.length == 0 ? "" : String.join("\r\n", more) + "\r\n")
                    + "Content-Length: " + body.length() + "\r\n\r\n";
            return connection.send(head + body).readUntil("\r\n\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://OWN", "HTTP://OWN", "https://OWN", "https://listed.example"})
    void shouldLetTheServersOwnPagesAndListedOnesChangeIt(String origin) throws Exception {
        String sent = origin.replace("OWN", own());
        assertThat(post(loopback(), INDEX, own(), sent)).startsWith("HTTP/1.1 200");
        assertThat(post(loopback(), INDEX, own().toUpperCase(Locale.ROOT), sent))
                .startsWith("HTTP/1.1 200");
        assertThat(post(socket(), INDEX, own(), sent, "Sec-Fetch-Site: none")).startsWith("HTTP/1.1 200");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "http://evil.example",
                "http://evil.example:PORT",
                "http://localhost",
                "http://localhost:1",
                "http://OWN.evil.example",
                "http://evil@OWN",
                "http://OWN/",
                "http://",
                "OWN",
                "//OWN",
                "file://",
                "chrome-extension://OWN",
                "https://LISTED.example",
                "https://listed.example:8443"
            })
    void shouldRefuseChangesByOtherPages(String origin) throws Exception {
        String sent = origin.replace("OWN", own()).replace("PORT", "" + server.httpPort());
        for (SocketAddress address : new SocketAddress[] {loopback(), socket()}) {
            assertThat(post(address, INDEX, own(), sent)).startsWith("HTTP/1.1 403");
            assertThat(post(address, INDEX, own(), sent, "Sec-Fetch-Site: same-origin"))
                    .startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void shouldTakeNoPageForItsOwnByANameThatIsNone() throws Exception {
        String evil = "evil.example:8000";
        for (String path : new String[] {INDEX, INFER}) {
            assertThat(post(socket(), path, evil, "http://" + evil)).startsWith("HTTP/1.1 403");
            assertThat(post(socket(), path, evil, "https://EVIL.example:8000", "Sec-Fetch-Site: same-origin"))
                    .startsWith("HTTP/1.1 403");
            assertThat(post(loopback(), path, evil, "http://" + evil)).startsWith("HTTP/1.1 421");
            assertThat(post(loopback(), path, evil, "http://" + own())).startsWith("HTTP/1.1 421");
            assertThat(post(loopback(), path, evil, "https://listed.example")).startsWith("HTTP/1.1 421");
        }
        assertThat(post(socket(), INDEX, evil, "http://" + own())).startsWith("HTTP/1.1 403");
        assertThat(post(socket(), INDEX, evil, "https://listed.example")).startsWith("HTTP/1.1 200");
    }

    /** A browser does not show the response to such a page, which is told nothing. */
    @Test
    void shouldStillInferForPagesThatCannotReadTheResponse() throws Exception {
        assertThat(post(loopback(), INFER, own(), "http://other.example"))
                .startsWith("HTTP/1.1 200")
                .doesNotContainIgnoringCase("Access-Control-Allow-Origin");
    }

    @Test
    void shouldJudgePagesInBrowsersOnOtherMachinesAlike() throws Exception {
        try (OtherMachine machine = OtherMachine.connect()) {
            String address = machine.server() + ":" + server.httpPort();
            assertThat(curl(machine, INDEX, address, "http://" + address)).isEqualTo("200");
            assertThat(curl(machine, INDEX, address, "http://evil.example")).isEqualTo("403");
            assertThat(curl(machine, INDEX, "evil.example", "http://evil.example"))
                    .isEqualTo("403");
            assertThat(curl(machine, INFER, "evil.example", "http://evil.example"))
                    .isEqualTo("403");
            assertThat(curl(machine, INFER, "models.example", "http://other.example"))
                    .isEqualTo("200");
            assertThat(curl(machine, INDEX, "models.example", "https://listed.example"))
                    .isEqualTo("200");
        }
    }

    private static String curl(OtherMachine machine, String path, String host, String origin) throws Exception {
        return machine.execute(
                "curl",
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                "Host: " + host,
                "-H",
                "Origin: " + origin,
                "-d",
                path.equals(INFER) ? SimpleModel.json() : "",
                "http://" + machine.server() + ":" + server.httpPort() + path);
    }
}
