// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.RawGrpc;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.FreePorts;
import gatun.testing.Python;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests from this machine for other hosts, as a page in a browser sends them once it has its own name resolve to this
 * machine. They are refused by every listener, and do nothing.
 */
@Timeout(120)
class HostNamesIT {
    private static final Path HOSTNAME = Path.of("/proc/sys/kernel/hostname");

    @TempDir
    static Path folder;

    private static String python;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(HostNamesIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        python = Python.with("grpc");
        return FreePorts.start(ports -> ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--model-control-mode=explicit",
                "--load-model=simple",
                "--console-port=0",
                "--rest_api_port=" + ports.getAsInt(),
                "--http-unix-socket=" + folder.resolve("http"),
                "--grpc-unix-socket=" + folder.resolve("grpc")));
    }

    private static InetSocketAddress at(int port) throws Exception {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    /** The head of the response to a request, in which bars stand for line ends. */
    private static String ask(SocketAddress address, String request) throws Exception {
        try (RawHttp connection = RawHttp.connect(address)) {
            return connection.send(request.replace("|", "\r\n")).readUntil("\r\n\r\n");
        }
    }

    private static String ready(String host) {
        return "GET /v2/health/ready HTTP/1.1|Host: " + host + "||";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:8000",
                "localhost.evil.example:8000",
                "127.0.0.1.evil.example",
                "evil.localhost",
                "localhost:8000:8000",
                "_",
                ""
            })
    void shouldRefuseOtherHostsAtEveryListener(String host) throws Exception {
        for (int port : new int[] {
            server.httpPort(),
            Integer.parseInt(server.process().ready("metrics.port")),
            Integer.parseInt(server.process().ready("console.port")),
            Integer.parseInt(server.process().ready("rest.port"))
        }) {
            try (RawHttp connection = RawHttp.connect(at(port))) {
                connection.send("GET /v2 HTTP/1.1\r\nhOST: " + host + "\r\n\r\n");
                String text = new String(connection.readBody("HTTP/1.1 421 "), StandardCharsets.UTF_8);
                assertThat(text)
                        .startsWith("{\"error\":")
                        .contains(host.isEmpty() ? "names no host" : "'" + host + "'")
                        .contains("localhost", "--allow-host=NAME");
            }
        }
    }

    @Test
    void shouldAcceptAddressesLocalhostAndTheMachinesName() throws Exception {
        String machine = Files.readString(HOSTNAME).strip();
        for (String host : List.of(
                "localhost", "LocalHost:8000", "localhost.", "127.0.0.1:1", "203.0.113.7", "[::1]:8000", machine)) {
            assertThat(ask(at(server.httpPort()), ready(host))).as(host).startsWith("HTTP/1.1 200");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|Content-Length: 0||",
                "POST /v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|Content-Length: 2||{}",
                "POST /v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|Transfer-Encoding: chunked||"
                        + "2|{}|0||",
                "POST /v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|Expect: 100-continue|"
                        + "Content-Length: 2||",
                "POST http://evil.example/v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|"
                        + "Content-Length: 0||",
                "POST http://evil.example/v2/repository/models/simple/unload HTTP/1.0|Content-Length: 0||",
                "POST /v2/repository/models/simple/unload HTTP/1.0|Host: evil.example|Content-Length: 0||",
                "POST /v2/repository/models/simple/unload HTTP/1.1|Host: evil.example|X-Forwarded-For: 10.0.0.1|"
                        + "X-Forwarded-Host: localhost|Content-Length: 0||"
            })
    void shouldDoNothingOfWhatIsRefused(String request) throws Exception {
        assertThat(ask(at(server.httpPort()), request)).startsWith("HTTP/1.1 421 ");
        assertThat(http.get("/v2/models/simple/ready").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET http://evil.example/v2 HTTP/1.1|Host: localhost||",
                "GET /v2 HTTP/1.1|Host: localhost|Host: evil.example||",
                "GET /v2 HTTP/1.1|Host: local host||",
                "GET /v2 HTTP/1.1||"
            })
    void shouldRefuseHeadsThatNameNoHostOrSeveral(String request) throws Exception {
        assertThat(ask(at(server.httpPort()), request)).startsWith("HTTP/1.1 400 ");
    }

    @Test
    void shouldServeOldClientsThatNameNoHost() throws Exception {
        assertThat(ask(at(server.httpPort()), "GET /v2/health/ready HTTP/1.0||"))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void shouldLookAtEachRequestOfAConnection() throws Exception {
        try (RawHttp connection = RawHttp.connect(at(server.httpPort()))) {
            String own = ready("localhost:8000").replace("|", "\r\n");
            String other = ready("evil.example").replace("|", "\r\n");
            String upper = ready("LOCALHOST:8000").replace("|", "\r\n");
            connection.send(own + own + other + own + upper + other);
            for (String status : List.of("200", "200", "421", "200", "200", "421")) {
                connection.readBody("HTTP/1.1 " + status);
            }
        }
    }

    @Test
    void shouldAcceptAnyHostOverUnixSockets() throws Exception {
        UnixDomainSocketAddress socket = UnixDomainSocketAddress.of(folder.resolve("http"));
        assertThat(ask(socket, ready("evil.example"))).startsWith("HTTP/1.1 200");
        assertThat(ask(socket, ready(""))).startsWith("HTTP/1.1 200");
    }

    /** What Python's clients get who call by {@code authority}: of a health check, and of an attempt to unload. */
    private static String call(int port, String target, String authority) throws Exception {
        Process process = new ProcessBuilder(python, "-c", """
                        import grpc, sys
                        target, authority = sys.argv[1:]
                        options = [("grpc.default_authority", authority)] if authority else []
                        channel = grpc.insecure_channel(target, options=options)
                        for method, message in (("/grpc.health.v1.Health/Check", b""),
                                                ("/inference.GRPCInferenceService/RepositoryModelUnload", b"\\x12\\x06absent")):
                            try:
                                channel.unary_unary(method)(message, timeout=20)
                                print("OK")
                            except grpc.RpcError as e:
                                print(e.code().name, e.details())
                        """, target.replace("PORT", "" + port), authority)
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(printed).isTrue();
        return printed;
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil.example:8001", "evil.example", "localhost.evil.example", "%2Ftmp%2Fsocket", "a_b"})
    void shouldRefuseCallsForOtherHosts(String authority) throws Exception {
        assertThat(call(server.grpcPort(), "127.0.0.1:PORT", authority).lines())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .startsWith("PERMISSION_DENIED the request is for host '" + authority + "'")
                        .contains("--allow-host=NAME"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8001"})
    void shouldAcceptCallsForThisMachine(String authority) throws Exception {
        assertThat(call(server.grpcPort(), "127.0.0.1:PORT", authority)).startsWith("OK\n");
        assertThat(call(server.grpcPort(), "localhost:PORT", authority)).startsWith("OK\n");
    }

    @Test
    void shouldAcceptAnyAuthorityOverUnixSockets() throws Exception {
        String socket = "unix:" + folder.resolve("grpc");
        assertThat(call(0, socket, "")).startsWith("OK\n");
        assertThat(call(0, socket, "evil.example")).startsWith("OK\n");
    }

    @Test
    void shouldLookAtEachHostThatACallNames() throws Exception {
        assertThat(status(List.of("localhost"), List.of("localhost"))).isEqualTo("0");
        assertThat(status(List.of(), List.of())).as("no host").isEqualTo("0");
        assertThat(status(List.of(), List.of("evil.example"))).isEqualTo("7");
        assertThat(status(List.of("localhost"), List.of("evil.example"))).isEqualTo("7");
        assertThat(status(List.of("localhost"), List.of("localhost", "evil.example")))
                .isEqualTo("7");
        assertThat(status(List.of("evil.example"), List.of("localhost"))).isEqualTo("7");
        assertThat(status(List.of("/tmp/a socket"), List.of())).as("no host").isEqualTo("7");
    }

    private static String status(List<String> authorities, List<String> hosts) throws Exception {
        try (RawGrpc call = RawGrpc.call(at(server.grpcPort()), "ServerLive", authorities, hosts)) {
            HttpFields trailers = call.message(0).end().awaitTrailers();
            return trailers.get("grpc-status");
        }
    }

    @Test
    void shouldLookAtEachCallOfAConnection() throws Exception {
        try (RawGrpc calls = RawGrpc.call(at(server.grpcPort()), "ServerLive")) {
            assertThat(calls.message(0).end().awaitTrailers().get("grpc-status"))
                    .isEqualTo("0");
            for (String authority : List.of("localhost", "evil.example", "localhost", "localhost:1", "evil.example")) {
                calls.next("ServerLive", authority);
                boolean own = authority.startsWith("localhost");
                assertThat(calls.message(0).end().awaitTrailers().get("grpc-status"))
                        .as(authority)
                        .isEqualTo(own ? "0" : "7");
            }
        }
    }

    @Test
    void shouldAcceptTheNamesThatTheOperatorLists() throws Exception {
        try (ServerProcess named = ServerProcess.launch(
                ServerProcess.exampleModels(), "--allow-host=Models.example", "--allow-host=gpu1.example.")) {
            for (String host : List.of("models.example", "MODELS.example:80", "gpu1.example", "localhost")) {
                assertThat(ask(at(named.httpPort()), ready(host))).as(host).startsWith("HTTP/1.1 200");
            }
            assertThat(call(named.grpcPort(), "127.0.0.1:PORT", "models.example:443"))
                    .startsWith("OK\n");
            assertThat(ask(at(named.httpPort()), ready("evil.example"))).startsWith("HTTP/1.1 421");
        }
    }

    @Test
    void shouldAcceptAnyNameWhereTheOperatorSaysSo() throws Exception {
        try (ServerProcess open =
                ServerProcess.launch(ServerProcess.exampleModels(), Map.of("GATUN_ALLOW_HOST", "*"))) {
            assertThat(ask(at(open.httpPort()), ready("anything.example"))).startsWith("HTTP/1.1 200");
            assertThat(call(open.grpcPort(), "127.0.0.1:PORT", "anything.example"))
                    .startsWith("OK\n");
        }
    }
}
