// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests that a proxy in front of the server may read differently are refused and end the connection, whether the
 * reader of plain requests or Helidon reads them.
 */
class StrictHttpTest {
    private static final String INFER = "POST /v2/models/ints/infer HTTP/1.1\r\n";
    private static final String HOST = "Host: h\r\n";
    private static final String JSON =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[2],\"data\":[7,8]}]}";
    private static final String LENGTH = "Content-Length: " + JSON.length() + "\r\n";
    private static final String CHUNKED = "Transfer-Encoding: chunked\r\n";

    /** Keeps a request from being plain. */
    private static final String NOT_PLAIN = "TE: trailers\r\n";

    /** Would be answered if a malformed request ended where somebody else thinks that it does. */
    private static final String SMUGGLED = "GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "ints", 0, "TYPE_INT32 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    private static String chunk(String sizeLine) {
        return INFER + HOST + CHUNKED + "\r\n" + sizeLine + "\r\n" + JSON + "\r\n0\r\n\r\n";
    }

    static Stream<Arguments> malformed() {
        String size = Integer.toHexString(JSON.length());
        return Stream.of(
                Arguments.of("lone LF", INFER.replace("\r", "") + HOST + LENGTH + "\r\n" + JSON),
                Arguments.of("lone LF in a header", INFER + HOST.replace("\r", "") + LENGTH + "\r\n" + JSON),
                Arguments.of("lone LF at the end", INFER + HOST + LENGTH + "\n" + JSON),
                Arguments.of("no host", INFER + LENGTH + "\r\n" + JSON),
                Arguments.of("two hosts", INFER + HOST + HOST + LENGTH + "\r\n" + JSON),
                Arguments.of("a host with a blank", INFER + "Host: a b\r\n" + LENGTH + "\r\n" + JSON),
                Arguments.of("two lengths", INFER + HOST + LENGTH + LENGTH + "\r\n" + JSON),
                Arguments.of("a list of lengths", INFER + HOST + "Content-Length: 5, 5\r\n\r\nhello"),
                Arguments.of("a signed length", INFER + HOST + "Content-Length: +5\r\n\r\nhello"),
                Arguments.of("both framings", INFER + HOST + CHUNKED + LENGTH + "\r\n0\r\n\r\n"),
                Arguments.of("another encoding", INFER + HOST + "Transfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n"),
                Arguments.of("a folded header", INFER + HOST + "X: a\r\n b\r\n" + LENGTH + "\r\n" + JSON),
                Arguments.of("a blank before the colon", INFER + HOST + LENGTH.replace(":", " :") + "\r\n" + JSON),
                Arguments.of("a NUL", INFER + HOST + "X: a\u0000b\r\n" + LENGTH + "\r\n" + JSON),
                Arguments.of("a lone CR", INFER + HOST + "X: a\rb\r\n" + LENGTH + "\r\n" + JSON),
                Arguments.of("two addresses", INFER.replace("/v2", "http://other/v2") + HOST + LENGTH + "\r\n" + JSON),
                Arguments.of("a malformed method", "P(ST /v2 HTTP/1.1\r\n" + HOST + "\r\n"),
                Arguments.of("chunks in HTTP/1.0", INFER.replace("1.1", "1.0") + CHUNKED + "\r\n0\r\n\r\n"),
                Arguments.of("LF in a chunk's extension", chunk(size + ";a\nb")),
                Arguments.of("LF after a chunk's size", chunk(size).replace(size + "\r\n", size + "\n")),
                Arguments.of("a blank after a chunk's size", chunk(size + " ")),
                Arguments.of("a blank before a chunk's size", chunk(" " + size)),
                Arguments.of("a prefix of a chunk's size", chunk("0x" + size)),
                Arguments.of("a sign of a chunk's size", chunk("+" + size)),
                Arguments.of("a long extension", chunk(size + ";" + "x".repeat(2000))),
                Arguments.of("framing in a trailer", chunk(size).replace("\r\n0\r\n", "\r\n0\r\n" + LENGTH)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("malformed")
    void shouldRefuseItAndEndTheConnection(String what, String request) {
        int lineEnd = request.indexOf('\n') + 1;
        for (String more : new String[] {"", NOT_PLAIN}) {
            try (RawClient client = new RawClient(edge.port())) {
                client.send(request.substring(0, lineEnd) + more + request.substring(lineEnd) + SMUGGLED)
                        .endOutput();
                RawClient.Response response = client.read();
                assertThat(response.status()).as(response.text()).isEqualTo(400);
                assertThat(response.text()).startsWith("{\"error\":\"");
                assertThat(response.headers()).containsEntry("connection", "close");
                assertThat(client.readByte()).isEqualTo(-1);
            }
        }
        edge.awaitNothingLent();
    }

    /** Whether the server sees a head in one piece or in several is up to the network, so it is tried often. */
    @RepeatedTest(20)
    void shouldAnswerPlainAndOtherRequestsThatComeTogether() {
        String plain = INFER + HOST + LENGTH + "\r\n" + JSON;
        String other = INFER + HOST + NOT_PLAIN + LENGTH + "\r\n" + JSON;
        String chunked = chunk(Integer.toHexString(JSON.length()));
        String unwanted = "POST /v2/none HTTP/1.1\r\n" + HOST + NOT_PLAIN + LENGTH + "\r\n" + JSON;
        String whole = other + plain + chunked + chunked + unwanted + other + chunked + plain + unwanted + SMUGGLED;
        int[] statuses = {200, 200, 200, 200, 404, 200, 200, 200, 404, 200};
        for (int cut : new int[] {whole.length(), 1, 7, 100, 1000}) {
            try (RawClient client = new RawClient(edge.port())) {
                for (int at = 0; at < whole.length(); at += cut) {
                    client.send(whole.substring(at, Math.min(whole.length(), at + cut)));
                }
                for (int i = 0; i < statuses.length; i++) {
                    RawClient.Response response = client.read();
                    assertThat(response.status())
                            .as("answer %d to pieces of %d bytes: %s", i, cut, response.text())
                            .isEqualTo(statuses[i]);
                }
            }
        }
    }
}
