// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses on open connections from a server that was told to stop. */
class StoppingTest {
    private static final String BODY =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[2],\"data\":[7,8]}]}";

    private ListenerUnderTest edge;

    @BeforeEach
    void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "ints", 0, "TYPE_INT32 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterEach
    void stop() {
        edge.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v2/health/live", "/v2/health/ready"})
    void shouldSayThatItStopsWhereItsHealthIsAsked(String path) {
        HttpResponse<String> response = edge.get(path);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).endsWith(":true}");
        edge.announceStop();
        assertExiting(edge.get(path));
    }

    @Test
    void shouldRefuseNewRequests() {
        assertThat(edge.post("/v2/models/ints/infer", BODY).statusCode()).isEqualTo(200);
        edge.announceStop();
        assertExiting(edge.post("/v2/models/ints/infer", BODY));
        assertThat(edge.buffers().usedBytes()).isZero();
    }

    private static void assertExiting(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).isEqualTo("{\"error\":\"Server exiting\"}");
    }

    @Test
    void shouldAnswerARequestWhoseBodyIsOnItsWay() {
        try (RawClient client = new RawClient(edge.port())) {
            client.send(
                    "POST /v2/models/ints/infer HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
                            + BODY.length() + "\r\n\r\n");
            assertThat(client.read().status()).isEqualTo(100);
            edge.announceStop();
            client.send(BODY);
            assertThat(client.read().status()).isEqualTo(200);
        }
    }
}
