// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.MalformedResponseException;
import gatun.client.Retries;
import gatun.client.UnreachableException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers that are broken, or mean harm: each call fails with a text, and takes neither all memory nor the thread. */
@Timeout(60)
class MalformedResponseTest {
    private static String output(String fields) {
        return "{\"outputs\":[{\"name\":\"OUT\"" + (fields.isEmpty() ? "" : ",") + fields + "}]}";
    }

    private static String binary(String json, String bytes) {
        return ScriptedServer.ok(json + bytes, "Inference-Header-Content-Length: " + json.length());
    }

    private static Arguments bad(String response, String text) {
        return Arguments.of(response, text);
    }

    static Stream<Arguments> shouldSayWhatIsWrongWithAnAnswer() {
        String int32 = "\"datatype\":\"INT32\",\"shape\":[2],";
        String sized = int32 + "\"parameters\":{\"binary_data_size\":8}";
        return Stream.of(
                bad("SSH-2.0-OpenSSH_9.6\r\n\r\n", "begins with 'SSH-2.0-OpenSSH_9.6'"),
                bad("HTTP/2 200\r\n\r\n", "expected a status line of HTTP/1.1"),
                bad("HTTP/1.1 2xx OK\r\n\r\n", "expected a status of three digits"),
                bad("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "'no colon'"),
                bad("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "'Content-Length: -1'"),
                bad("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "expected a number of bytes"),
                bad("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "expected a number of bytes"),
                bad("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "two lengths"),
                bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "expected 'chunked'"),
                bad("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 0\r\n\r\n", "'br'"),
                bad("HTTP/1.1 200 OK\r\nX: " + "x".repeat(20_000) + "\r\n\r\n", "more than 16384 bytes"),
                bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", "hexadecimal"),
                bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "hexadecimal"),
                bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{more\r\n", "longer than it says"),
                bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + "1".repeat(5000), "longer than 4096"),
                bad(ScriptedServer.ok("not gzip", "Content-Encoding: gzip"), "not compressed as its head says"),
                bad(ScriptedServer.ok(""), "no object as 'the answer'"),
                bad(ScriptedServer.ok("[]"), "no object as 'the answer'"),
                bad(ScriptedServer.ok("{}"), "no 'outputs'"),
                bad(ScriptedServer.ok("{\"outputs\":[}"), "its JSON cannot be read"),
                bad(ScriptedServer.ok("{\"outputs\":[]} {}"), "more than one value"),
                bad(ScriptedServer.ok("{\"outputs\":" + "[".repeat(5000)), "JSON"),
                bad(ScriptedServer.ok("{\"x\":" + "[".repeat(5000)), "nesting depth"),
                bad(ScriptedServer.ok(output("")), "no shape"),
                bad(ScriptedServer.ok(output("\"shape\":[1],\"datatype\":\"INT3\"")), "'INT3'"),
                bad(ScriptedServer.ok(output("\"shape\":[-1],\"datatype\":\"INT32\"")), "the dimension -1"),
                bad(ScriptedServer.ok(output("\"shape\":[1.5],\"datatype\":\"INT32\"")), "the dimension 1.5"),
                bad(
                        ScriptedServer.ok(
                                output("\"shape\":[4294967296,4294967296],\"datatype\":\"INT32\",\"data\":[1]")),
                        "too large"),
                bad(
                        ScriptedServer.ok(output("\"shape\":[1099511627776],\"datatype\":\"INT32\",\"data\":[1]")),
                        "the client's limit"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1]")), "has 1 elements: expected 2"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1,2,3]")), "more than 2 elements"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":7")), "is no array"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1,2.5]")), "the element 2.5"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1,2147483648]")), "the element 2147483648"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1,\"2\"]")), "the element 2"),
                bad(ScriptedServer.ok(output(int32 + "\"data\":[1,2")), "JSON"),
                bad(ScriptedServer.ok(output("\"shape\":[1],\"datatype\":\"FP16\",\"data\":[1]")), "ask for binary"),
                bad(ScriptedServer.ok(output(int32 + "\"more\":1")), "'OUT' has no data"),
                bad(ScriptedServer.ok(output(sized)), "outputs have 8 bytes by its JSON, behind which 0 bytes"),
                bad(binary(output(sized), "1234567"), "behind which 7 bytes"),
                bad(binary(output(sized), "123456789"), "behind which 9 bytes"),
                bad(binary(output(sized.replace("8}", "12}")), "123456789012"), "has 12 bytes: expected 8"),
                bad(binary(output(sized.replace("8}", "-8}")), ""), "binary_data_size -8"),
                bad(
                        binary(
                                output("\"datatype\":\"BYTES\",\"shape\":[2],\"parameters\":{\"binary_data_size\":5}"),
                                "\1\0\0\0a"),
                        "is not 2 elements"),
                bad(
                        ScriptedServer.ok("{}", "Inference-Header-Content-Length: 3"),
                        "Inference-Header-Content-Length is 3"),
                bad(
                        "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n"
                                + "Inference-Header-Content-Length: 8000000000000000000\r\n\r\n{",
                        "the client's limit"));
    }

    @ParameterizedTest
    @MethodSource
    void shouldSayWhatIsWrongWithAnAnswer(String response, String text) throws Exception {
        try (ScriptedServer server = ScriptedServer.sayingOnce(response.getBytes(ISO_8859_1));
                GatunClient client = server.client()) {
            assertThatThrownBy(() -> client.infer("m"))
                    .isInstanceOf(MalformedResponseException.class)
                    .hasMessageContaining(text)
                    .hasMessageStartingWith(
                            server.url() + " answered POST /v2/models/m/infer with what is no answer: ");
            // A malformed response is not retried.
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    static Stream<String> shouldSayThatTheConnectionBroke() {
        String json = output("\"datatype\":\"INT32\",\"shape\":[2],\"parameters\":{\"binary_data_size\":8}");
        String response = binary(json, "12345678");
        String huge = "HTTP/1.1 200 OK\r\nContent-Length: 8000000000\r\n\r\n{";
        return Stream.of(
                "",
                "HTTP/1.1 20",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n",
                response.substring(0, response.length() - 3),
                response.substring(0, response.length() - 12),
                huge,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"out\r\n");
    }

    @ParameterizedTest
    @MethodSource
    void shouldSayThatTheConnectionBroke(String response) throws Exception {
        try (ScriptedServer server = ScriptedServer.sayingOnce(response.getBytes(ISO_8859_1));
                GatunClient client = GatunClient.connect(server.options().withRetries(Retries.NONE))) {
            assertThatThrownBy(() -> client.infer("m"))
                    .isInstanceOf(UnreachableException.class)
                    .isInstanceOf(ClientException.class)
                    .hasMessageStartingWith("the connection to " + server.url()
                            + " broke before POST /v2/models/m/infer was answered: ");
        }
    }
}
