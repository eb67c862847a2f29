// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Base64;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Limits on the parts of a request beside its tensors: a request beyond one is refused with the limit's name before it
 * is processed.
 */
class RequestLimitsTest {
    private static final String LONG = "x".repeat(70_000);
    private static final String INPUT = "{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[1,2],\"data\":[1,2]}";
    private static final String INPUTS = "\"inputs\":[" + INPUT + "]";
    private static final String INFER = "/v2/models/ints/infer";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "ints", 8, "TYPE_INT32 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    static Stream<Arguments> attacks() {
        return Stream.of(
                Arguments.of("an id", INFER, "{\"id\":\"" + LONG + "\"," + INPUTS + "}", "limit-text-byte-size"),
                Arguments.of(
                        "an input's name",
                        INFER,
                        "{\"inputs\":[{\"name\":\"" + LONG + "\"}]}",
                        "Unable to parse 'name': the string at byte 19 of the JSON has 65537 bytes or more"),
                Arguments.of(
                        "a datatype", INFER, "{\"inputs\":[{\"datatype\":\"" + LONG + "\"}]}", "limit-text-byte-size"),
                Arguments.of(
                        "a parameter",
                        INFER,
                        "{\"parameters\":{\"p\":\"" + LONG + "\"}," + INPUTS + "}",
                        "limit-text-byte-size"),
                Arguments.of(
                        "a parameter's name",
                        INFER,
                        "{\"parameters\":{\"" + LONG + "\":1}," + INPUTS + "}",
                        "limit-text-byte-size"),
                Arguments.of(
                        "texts", INFER, "{\"parameters\":{" + parameters(20, 15_000) + "}}", "limit-texts-byte-size"),
                Arguments.of("parameters", INFER, "{\"parameters\":{" + parameters(1100, 1) + "}}", "limit-parameters"),
                Arguments.of(
                        "parameters of inputs",
                        INFER,
                        "{\"inputs\":[{\"name\":\"IN0\",\"parameters\":{" + parameters(1100, 1) + "}}]}",
                        "limit-parameters"),
                Arguments.of(
                        "outputs",
                        INFER,
                        "{\"outputs\":[" + repeated("{\"name\":\"OUT0\"}", 4097) + "]," + INPUTS + "}",
                        "the request has 4097 outputs or more"),
                Arguments.of("inputs", INFER, "{\"inputs\":[" + repeated(INPUT, 4097) + "]}", "limit-tensors"),
                Arguments.of(
                        "dimensions",
                        INFER,
                        "{\"inputs\":[{\"name\":\"IN0\",\"shape\":[" + repeated("1", 70_000) + "]}]}",
                        "limit-tensors"),
                Arguments.of("a log format", "/v2/logging", "{\"log_format\":\"" + LONG + "\"}", "limit-text"),
                Arguments.of(
                        "the members of a log request",
                        "/v2/logging",
                        "{" + repeated("\"log_info\":true", 1100) + "}",
                        "limit-parameters"),
                Arguments.of(
                        "trace levels",
                        "/v2/trace/setting",
                        "{\"trace_level\":[" + repeated("\"\"", 20_000) + "]}",
                        "limit-texts-byte-size"),
                Arguments.of(
                        "a key of shared memory",
                        "/v2/systemsharedmemory/region/r/register",
                        "{\"key\":\"/" + LONG + "\",\"byte_size\":8}",
                        "limit-text-byte-size"),
                Arguments.of(
                        "a member of generate",
                        "/v2/models/ints/generate",
                        "{\"text\":\"" + LONG + "\"}",
                        "limit-text-byte-size"),
                Arguments.of(
                        "the members of generate",
                        "/v2/models/ints/generate",
                        "{" + parameters(1100, 1) + "}",
                        "limit-parameters"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void shouldRefuseByTheLimitsName(String what, String path, String json, String reason) {
        HttpResponse<String> response = edge.post(path, json);

        assertThat(response.body()).as(what).contains(reason);
        assertThat(response.statusCode()).as(what).isEqualTo(413);
        assertThat(edge.post(INFER, "{" + INPUTS + "}").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldTakeTextsUpToTheLimit() {
        HttpResponse<String> response = edge.post(INFER, "{\"id\":\"" + "i".repeat(65_536) + "\"," + INPUTS + "}");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).contains("i".repeat(65_536));
    }

    @Test
    void shouldShowOnlyBeginAndEndOfWhatAnErrorQuotes() {
        HttpResponse<String> response = edge.post(
                INFER,
                "{\"inputs\":[{\"name\":\"" + "n".repeat(60_000) + "\",\"datatype\":\"INT32\","
                        + "\"shape\":[2],\"data\":[1,2]}]}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).hasSizeLessThan(5000).contains("characters left out");
    }

    @Test
    void shouldRefuseAControlRequestThatIsTooLong() {
        String blanks = " ".repeat(1 << 19);

        assertThat(edge.post("/v2/logging", "{" + blanks + "}").statusCode()).isEqualTo(200);
        HttpResponse<String> answer = edge.post("/v2/logging", "{" + blanks + blanks + blanks + "}");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("http-max-input-size");
    }

    @Test
    void shouldNameAFileThatIsNoBase64() {
        HttpResponse<String> response = edge.post(
                "/v2/repository/models/ints/load", "{\"parameters\":{\"config\":\"{}\",\"file:1/m\":\"A*\"}}");

        assertThat(response.body()).contains("load parameter 'file:1/m' is not base64 text");
        String file = Base64.getEncoder().encodeToString(new byte[100_000]);
        assertThat(edge.post(
                                "/v2/repository/models/ints/load",
                                "{\"parameters\":{\"config\":\"{}\",\"file:1/m\":\"" + file + "\"}}")
                        .statusCode())
                .isNotEqualTo(413);
    }

    private static String parameters(int count, int valueLength) {
        StringBuilder members = new StringBuilder();
        for (int i = 0; i < count; i++) {
            members.append(i == 0 ? "" : ",").append("\"p").append(i).append("\":\"");
            members.append("v".repeat(valueLength)).append('"');
        }
        return members.toString();
    }

    private static String repeated(String value, int count) {
        return (value + ",").repeat(count - 1) + value;
    }
}
