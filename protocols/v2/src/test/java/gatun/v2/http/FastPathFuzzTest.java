// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests that may be answered before Helidon sees them, against the same that Helidon reads: of random requests, most
 * of them damaged, both get the same response. Helidon reads what comes in one piece with a request of a method that is
 * left to it. A failure names the seed; {@code -Dgatun.fuzz.seed=N} repeats it, and {@code -Dgatun.fuzz.requests=N}
 * tries more.
 */
@Timeout(120)
class FastPathFuzzTest {
    private static final long SEED = Long.getLong("gatun.fuzz.seed", 20_261_121);
    private static final int REQUESTS = Integer.getInteger("gatun.fuzz.requests", 1500);

    private static final String BODY =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2.5]}]}";
    private static final String LENGTH = "Content-Length: " + BODY.length();

    /** Ends whatever head or body a damaged request may have left open; all of it is read together with the request. */
    private static final String END = "\r\n\r\n" + "x".repeat(1200) + "\r\n\r\n";

    private static final String LEFT_TO_HELIDON = "OPTIONS /v2 HTTP/1.1\r\nHost: h\r\n\r\n";

    private static final String[] LINES = {
        "GET /v2 HTTP/1.1",
        "GET /v2/health/ready HTTP/1.1",
        "GET /v2/models/floats HTTP/1.1",
        "GET /v2/models/floats/versions/1/ready HTTP/1.1",
        "GET /nothing HTTP/1.1",
        "POST /v2/models/floats/infer HTTP/1.1",
        "POST /v2/models/floats/versions/1/infer HTTP/1.1",
        "POST /v2/models/none/infer HTTP/1.1",
        "POST /v2/repository/index HTTP/1.1",
        "PUT /v2 HTTP/1.1",
        "GET /v2/models/../models/floats HTTP/1.1",
        "GET //v2 HTTP/1.1",
        "GET /v2/models/a%20b HTTP/1.1",
        "GET /v2?x=y HTTP/1.1"
    };

    private static final String[] HEADERS = {
        "Host: h",
        "Host: localhost:8000",
        LENGTH,
        "content-length:" + BODY.length() + " ",
        "Content-Length: 0",
        "Content-Length: 17",
        "Content-Length: 900",
        "Content-Length: +5",
        "Content-Length : 5",
        "Transfer-Encoding: chunked",
        "Connection: keep-alive",
        "Connection: close",
        "Connection: Keep-Alive, Upgrade",
        "Accept: */*",
        "Accept-Encoding: gzip",
        "Content-Encoding: br",
        "Content-Type: application/json",
        "Inference-Header-Content-Length: " + BODY.length(),
        "Inference-Header-Content-Length: x",
        "X-Blank:",
        "X-Long: " + "y".repeat(300),
        "Expect: something",
        " folded"
    };

    private static final String SPLINTERS = " \t\r\n:/.%?#\0\u007f\u00e9aZ0-";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "floats", 0, "TYPE_FP32 [ -1 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @Test
    void shouldGiveTheAnswerThatHelidonWouldBringAbout() {
        int answeredWell = 0;
        for (int i = 0; i < REQUESTS; i++) {
            long seed = SEED + i;
            String request = request(new Random(seed));

            String direct = answer("", request);
            String helidons = answer(LEFT_TO_HELIDON, request);

            assertThat(direct).as("seed %d: %s", seed, request).isEqualTo(helidons);
            answeredWell += direct.startsWith("200") ? 1 : 0;
        }
        assertThat(answeredWell).as("requests that were good").isGreaterThan(REQUESTS / 10);
        edge.awaitNothingLent();
    }

    private static String request(Random random) {
        StringBuilder head = new StringBuilder(LINES[random.nextInt(LINES.length)]).append("\r\nHost: h\r\n");
        boolean post = head.charAt(1) == 'O';
        for (int i = random.nextInt(4); i > 0; i--) {
            head.append(HEADERS[random.nextInt(random.nextInt(4) == 0 ? HEADERS.length : 3)])
                    .append("\r\n");
        }
        if (post && head.indexOf("ontent-") < 0) {
            head.append(LENGTH).append("\r\n");
        }
        for (int i = random.nextInt(4) - 1; i > 0; i--) {
            damage(head, random);
        }
        return head.append("\r\n").append(post ? BODY : "").toString();
    }

    private static void damage(StringBuilder head, Random random) {
        int at = random.nextInt(head.length());
        if (Character.isDigit(head.charAt(at))) {
            // A longer body than all that is sent would only be waited for.
            return;
        }
        char splinter = SPLINTERS.charAt(random.nextInt(SPLINTERS.length()));
        switch (random.nextInt(3)) {
            case 0 -> head.setCharAt(at, splinter);
            case 1 -> head.insert(at, splinter == '0' ? 'o' : splinter);
            default -> head.deleteCharAt(at);
        }
    }

    /** Status and body, or that the connection ended without a response. */
    private static String answer(String before, String request) {
        try (RawClient client = new RawClient(edge.port())) {
            client.send((before + request + END).getBytes(StandardCharsets.ISO_8859_1));
            if (!before.isEmpty()) {
                assertThat(client.read().status()).isEqualTo(204);
            }
            RawClient.Response response = client.read();
            return response.status() + " " + response.text();
        } catch (UncheckedIOException | AssertionError e) {
            return "no answer";
        }
    }
}
