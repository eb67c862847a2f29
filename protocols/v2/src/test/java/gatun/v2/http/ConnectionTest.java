// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import io.helidon.webserver.http.HttpService;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectionTest {
    private static final String INFER = "POST /v2/models/floats/infer HTTP/1.1\nHost: localhost\n";
    private static final String JSON =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2.5]}]}";
    private static final String ANSWER = "{\"model_name\":\"floats\",\"model_version\":\"1\",\"outputs\":["
            + "{\"name\":\"OUT0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1.0,2.5]}]}";
    private static final int LARGE = 32 << 20;

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "floats", 0, "TYPE_FP32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "a b<%>", 0, "TYPE_FP32 [ -1 ]");
        HttpService echo = rules -> rules.post(
                "/echo", (request, response) -> response.send(request.content().as(byte[].class)));
        edge = V2TestServer.start(repository, echo);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    @Test
    void shouldAnswerHttp10AndEndTheConnection() {
        try (RawClient client = connect()) {
            client.sendLines("POST /v2/models/floats/infer HTTP/1.0\n" + length(JSON) + "\n")
                    .send(JSON);

            RawClient.Response answer = client.read();

            assertThat(answer.text()).isEqualTo(ANSWER);
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(client.readByte()).isEqualTo(-1);
        }
    }

    @Test
    void shouldAnswerHttp10ThatComesByteByByte() {
        try (RawClient client = connect()) {
            for (byte next : "GET /v2/health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII)) {
                client.send(new byte[] {next});
            }

            assertThat(client.read().status()).isEqualTo(200);
            assertThat(client.readByte()).isEqualTo(-1);
        }
    }

    @Test
    void shouldEndTheConnectionWhenTheClientAsksForIt() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Connection: close\n" + length(JSON) + "\n")
                    .send(JSON);

            RawClient.Response answer = client.read();

            assertThat(answer.text()).isEqualTo(ANSWER);
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(client.readByte()).isEqualTo(-1);
        }
    }

    @Test
    void shouldEndTheConnectionAfterAServiceOfTheListener() {
        try (RawClient client = connect()) {
            client.sendLines("POST /echo HTTP/1.1\nHost: h\nConnection: close\nContent-Length: 3\n\n")
                    .send("abc");

            assertThat(client.read().text()).isEqualTo("abc");
            assertThat(client.readByte()).isEqualTo(-1);
        }
    }

    /** What a connection reads requests with is the same object for all. */
    @Test
    void shouldKeepNothingOfARequestForTheNextOnTheConnection() {
        String named =
                JSON.replace("{\"inputs\"", "{\"id\":\"7\",\"parameters\":{\"binary_data_output\":true},\"inputs\"");
        String listed =
                JSON.replace("]}]}", "]}],\"outputs\":[{\"name\":\"OUT0\",\"parameters\":{\"binary_data\":true}}]}");
        String binary = JSON.replace("\"data\":[1,2.5]", "\"parameters\":{\"binary_data_size\":8}");
        String twoSources = JSON.replace("\"data\"", "\"parameters\":{\"binary_data_size\":8},\"data\"");
        String broken = JSON.replace("]}]}", "]},{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[2,");
        String nested = "{\"inputs\":[[[[[{";
        String deep = JSON.replace("[2]", "[1,1,1,1,1,2]");
        String shorter = JSON.replace("[2]", "[1]").replace("[1,2.5]", "[1]");
        String otherType = JSON.replace("FP32", "INT32").replace("2.5", "2");
        try (RawClient client = connect()) {
            for (String other :
                    new String[] {named, listed, binary, twoSources, broken, nested, deep, shorter, otherType}) {
                client.sendLines(INFER + length(other) + "\n").send(other);
                assertThat(client.read().text()).as(other).isNotEqualTo(ANSWER);

                client.sendLines(INFER + length(JSON) + "\n").send(JSON);
                assertThat(client.read().text()).as("after %s", other).isEqualTo(ANSWER);
            }
        }
    }

    @Test
    void shouldAnswerPipelinedRequestsInTheirOrder() {
        try (RawClient client = connect()) {
            String infer = (INFER + length(JSON) + "\n").replace("\n", "\r\n") + JSON;
            String echo = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
            String metadata = "GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n";
            client.send(infer + echo + metadata + infer + infer);

            assertThat(client.read().text()).isEqualTo(ANSWER);
            assertThat(client.read().text()).isEqualTo("hello");
            assertThat(client.read().text()).startsWith("{\"name\":\"triton\",\"version\":\"1.2.3\"");
            assertThat(client.read().text()).isEqualTo(ANSWER);
            assertThat(client.read().text()).isEqualTo(ANSWER);
        }
    }

    @Test
    void shouldAskForTheBodyOfAClientThatWaitsForThat() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Expect: 100-continue\n" + length(JSON) + "\n");

            assertThat(client.line()).startsWith("HTTP/1.1 100");
            assertThat(client.line()).isEmpty();
            assertThat(client.send(JSON).read().text()).isEqualTo(ANSWER);
        }
    }

    @Test
    void shouldNotAskForABodyThatNobodyWants() {
        try (RawClient client = connect()) {
            client.sendLines(
                    "POST /v2/models/none/infer HTTP/1.1\nHost: h\nExpect: 100-continue\n" + length(JSON) + "\n");

            RawClient.Response answer = client.read();

            assertThat(answer.status()).isEqualTo(404);
            // The body may come all the same, and is no request.
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(client.send(JSON).endOutput().readByte()).isEqualTo(-1);
        }
    }

    @Test
    void shouldReadABodyInChunks() {
        try (RawClient client = connect()) {
            StringBuilder chunks = new StringBuilder();
            for (int i = 0; i < JSON.length(); i += 7) {
                String chunk = JSON.substring(i, Math.min(JSON.length(), i + 7));
                chunks.append(Integer.toHexString(chunk.length()))
                        .append(";ext=1\r\n")
                        .append(chunk)
                        .append("\r\n");
            }
            String request = INFER.replace("\n", "\r\n") + "Transfer-Encoding: chunked\r\n\r\n" + chunks
                    + "0\r\nTrailer: x\r\n\r\n";
            client.send(request + request);

            assertThat(client.read().text()).isEqualTo(ANSWER);
            assertThat(client.read().text()).isEqualTo(ANSWER);
        }
    }

    @Test
    void shouldRefuseMalformedChunks() {
        for (String chunks :
                new String[] {"x\r\n", "-1\r\nab", "3\r\nabcd\r\n", "ffffffff\r\n", "80000000\r\n", "3\nabc"}) {
            try (RawClient client = connect()) {
                client.sendLines(INFER + "Transfer-Encoding: chunked\n\n").send(chunks);

                RawClient.Response answer = client.read();

                assertThat(answer.status()).as(chunks).isEqualTo(400);
                assertThat(answer.text()).contains("malformed chunked request body");
                assertThat(client.readByte()).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldRefuseTooManyChunks() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Transfer-Encoding: chunked\n\n").send("1\r\n \r\n".repeat(65_537));

            assertThat(client.read().text()).contains("Chunked request body exceeds maximum of 65536 non-empty chunks");
        }
    }

    @Test
    void shouldRefuseABodyThatIsAnnouncedTooLong() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Content-Length: 1048577\n\n");

            RawClient.Response answer = client.read();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text())
                    .isEqualTo(
                            "{\"error\":\"request JSON size of 1048577 bytes exceeds the maximum allowed input size of"
                                    + " 1048576 bytes. Use http-max-input-size to increase the limit.\"}");
            assertThat(answer.headers()).containsEntry("connection", "close");
        }
    }

    @Test
    void shouldTellAClientThatSendsOnThatThePoolNeverHasRoomForItsTensors() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Inference-Header-Content-Length: 2\nContent-Length: 1000000000000\n\n");
            client.send("{}" + " ".repeat(4 << 20));

            RawClient.Response answer = client.read();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text())
                    .contains("is more than the pool's limit of")
                    .contains("buffer-pool-byte-size");
            assertThat(answer.headers()).containsEntry("connection", "close");
        }
    }

    @Test
    void shouldRefuseABodyThatGrowsTooLongWhileItIsStillSent() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Transfer-Encoding: chunked\n\n");
            String chunk = "10000\r\n" + " ".repeat(0x10000) + "\r\n";
            for (int i = 0; i < 17; i++) {
                client.send(chunk);
            }

            assertThat(client.read().text()).contains("request JSON size of 1114112 bytes exceeds");
        }
    }

    @Test
    void shouldAnswerWhenABodyEndsEarly() {
        for (String framing : new String[] {"Content-Length: 500\n\n{", "Transfer-Encoding: chunked\n\n5\nab"}) {
            try (RawClient client = connect()) {
                RawClient.Response answer =
                        client.sendLines(INFER + framing).endOutput().read();

                assertThat(answer.status()).isEqualTo(400);
                assertThat(answer.text()).contains("the request body ended before");
            }
        }
    }

    @Test
    void shouldRefuseWhatFollowsABodyThatIsLongerThanAnnounced() {
        try (RawClient client = connect()) {
            client.sendLines(INFER + length(JSON) + "\n").send(JSON + "too much\r\n\r\n");

            assertThat(client.read().text()).isEqualTo(ANSWER);
            RawClient.Response second = client.read();
            assertThat(second.status()).isEqualTo(400);
            assertThat(second.text()).startsWith("{\"error\":\"");
            assertThat(client.readByte()).isEqualTo(-1);
        }
    }

    @Test
    void shouldSurviveAClientThatLeavesAmidItsBody() {
        for (int i = 0; i < 10; i++) {
            RawClient client = connect();
            client.sendLines(INFER + "Content-Length: 500000\n\n").send(" ".repeat(1000 * i));
            client.reset();
        }

        edge.awaitNothingLent();
        assertThat(edge.post("/v2/models/floats/infer", JSON).body()).isEqualTo(ANSWER);
    }

    @Test
    void shouldHoldTheAnswerUntilTheClientTakesItAndNoLonger() {
        RawClient client = connect();
        String json = "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[" + LARGE / 4
                + "],\"parameters\":{\"binary_data_size\":" + LARGE
                + "}}],\"parameters\":{\"binary_data_output\":true}}";
        client.sendLines(INFER + "Inference-Header-Content-Length: " + json.length() + "\nContent-Length: "
                        + (json.length() + LARGE) + "\n\n")
                .send(json)
                .send(new byte[LARGE]);
        assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(edge.buffers().usedBytes()).isGreaterThanOrEqualTo(LARGE);

        client.reset();

        edge.awaitNothingLent();
    }

    @Test
    void shouldSendLargeTensorsAsTheyAre() {
        byte[] tensor = new byte[LARGE];
        for (int i = 0; i < tensor.length; i++) {
            tensor[i] = (byte) ((i * 31) >> 4);
        }
        String json = "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[" + LARGE / 4
                + "],\"parameters\":{\"binary_data_size\":" + LARGE
                + "}}],\"parameters\":{\"binary_data_output\":true}}";
        try (RawClient client = connect()) {
            client.sendLines(INFER + "Inference-Header-Content-Length: " + json.length() + "\nContent-Length: "
                            + (json.length() + LARGE) + "\n\n")
                    .send(json)
                    .send(tensor);

            RawClient.Response answer = client.read();

            int header = Integer.parseInt(answer.headers().get("inference-header-content-length"));
            assertThat(answer.body()).hasSize(header + LARGE);
            assertThat(Arrays.equals(answer.body(), header, header + LARGE, tensor, 0, LARGE))
                    .isTrue();
        }
    }

    @Test
    void shouldDecodeNamesInPathsAndNothingElse() {
        assertThat(edge.post("/v2/models/a%20b%3C%25%3e/infer", JSON).body())
                .isEqualTo(ANSWER.replace("floats", "a b<%>"));
        try (RawClient client = connect()) {
            client.sendLines("GET /v2/models/../x|y?q=/v2 HTTP/1.1\nHost: h\n\n");
            assertThat(client.read().text()).isEqualTo("{\"error\":\"Not Found\"}");
            client.sendLines("GET /v2/models/%2e%2e HTTP/1.1\nHost: h\n\n");
            assertThat(client.read().text()).isEqualTo("{\"error\":\"Request for unknown model: '..' is not found\"}");
            client.sendLines("GET /v2/models/a%2Fconfig HTTP/1.1\nHost: h\n\n");
            assertThat(client.read().text())
                    .isEqualTo("{\"error\":\"Request for unknown model: 'a/config' is not found\"}");
            client.sendLines("GET /v2/models/a%2 HTTP/1.1\nHost: h\n\n");
            RawClient.Response malformed = client.read();
            assertThat(malformed.status()).isEqualTo(400);
            assertThat(malformed.text()).contains("'a%2' is not encoded as a part of a URL");
        }
    }

    @Test
    void shouldRefuseHeadersThatOthersMayUnderstandOtherwise() {
        for (String header : new String[] {
            "Content-Length : 5",
            "Transfer-Encoding : chunked",
            "X(: y",
            ": y",
            "X: a\u0000b",
            "X: a\u007fb",
            "X: a\u000bb"
        }) {
            try (RawClient client = connect()) {
                client.sendLines("GET /v2/health/live HTTP/1.1\nHost: h\n" + header + "\n\nhello");

                RawClient.Response answer = client.read();

                assertThat(answer.status()).as(header).isEqualTo(400);
                assertThat(answer.headers()).containsEntry("connection", "close");
            }
        }
        try (RawClient client = connect()) {
            client.sendLines("GET /v2/health/live HTTP/1.1\nHost: h\nX:\ta \u00e9\n\n");
            assertThat(client.read().status()).isEqualTo(200);
        }
    }

    @Test
    void shouldTakeWholeAddressesAsProxiesAreAskedForThem() {
        try (RawClient client = connect()) {
            client.sendLines("POST http://server:8000/v2/models/floats/infer?q=1 HTTP/1.1\nHost: server:8000\n"
                            + length(JSON) + "\n")
                    .send(JSON);
            assertThat(client.read().text()).isEqualTo(ANSWER);
            client.sendLines("GET http://server:8000 HTTP/1.1\nHost: SERVER:8000\n\n");
            assertThat(client.read().status()).isEqualTo(404);
        }
    }

    @Test
    void shouldRefuseWhatIsNoHttp() {
        for (String nonsense : new String[] {
            "\n\n", "GET\n\n", "GET / HTTP/9.9\n\n", "\u0000\u0001\n\n", "GET /v2 HTTP/1.1\nno colon\n\n"
        }) {
            try (RawClient client = connect()) {
                RawClient.Response answer = client.sendLines(nonsense).read();

                assertThat(answer.status()).as(nonsense).isEqualTo(400);
                assertThat(answer.text()).startsWith("{\"error\":\"");
                assertThat(client.readByte()).isEqualTo(-1);
            }
        }
    }

    private static RawClient connect() {
        return new RawClient(edge.port());
    }

    private static String length(String body) {
        return "Content-Length: " + body.length() + "\n";
    }
}
