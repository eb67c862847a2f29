// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** HTTP clients that leave while their requests wait for a batch that never fills. */
@Timeout(120)
class DisconnectIT {
    private static final String BODY =
            "{\"inputs\":[{\"name\":\"IN\",\"shape\":[1,2],\"datatype\":\"INT32\",\"data\":[5,6]}]}";

    private static final String REQUEST =
            "POST /v2/models/patient/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + BODY.length() + "\r\n\r\n"
                    + BODY;

    private final HttpClient http = HttpClient.newHttpClient();
    private ServerProcess server;

    @BeforeEach
    void start(@TempDir Path repository) throws Exception {
        Files.createDirectories(repository.resolve("patient/1"));
        Files.writeString(repository.resolve("patient/config.pbtxt"), """
                backend: "identity"
                max_batch_size: 8
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 2 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 2 ] } ]
                dynamic_batching { preferred_batch_size: [ 3 ] max_queue_delay_microseconds: 60000000 }
                """);
        server = ServerProcess.launch(repository);
    }

    @AfterEach
    void stop() {
        http.close();
        server.close();
    }

    private RawHttp connect() throws IOException {
        return RawHttp.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.httpPort()));
    }

    private String metrics() throws Exception {
        return http.send(
                        HttpRequest.newBuilder(server.metrics())
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private void awaitMetric(String line) throws Exception {
        Await.until(line, () -> metrics().contains(line));
    }

    private void awaitWaiting(int count) throws Exception {
        awaitMetric("nv_inference_pending_request_count{model=\"patient\",version=\"1\"} " + count);
    }

    @Test
    void shouldTakeTheRequestsOfClientsThatLeaveOutOfTheQueue() throws Exception {
        List<RawHttp> leaving = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            leaving.add(connect().send(REQUEST));
            awaitWaiting(i + 1);
        }
        for (RawHttp client : leaving) {
            client.close();
        }
        awaitWaiting(0);
        awaitMetric("nv_inference_request_failure{model=\"patient\",reason=\"CANCELED\",version=\"1\"} 2\n");
        awaitMetric("gatun_buffer_pool_used_bytes 0\n");
        assertThat(server.log()).doesNotContain("failed unexpectedly");
    }

    @Test
    void shouldAnswerThoseWhoStayAndSendTheirNextRequestMeanwhile() throws Exception {
        try (RawHttp first = connect().send(REQUEST);
                RawHttp second = connect()) {
            awaitWaiting(1);
            // Two requests at once: the second one waits unread on the connection.
            second.send(REQUEST + REQUEST);
            awaitWaiting(2);
            // Sent late, it is read while the first request of this connection waits.
            first.send(REQUEST);
            try (RawHttp third = connect().send(REQUEST)) {
                answered(first);
                answered(second);
                answered(third);
                awaitWaiting(2);
                third.send(REQUEST);
                answered(first);
                answered(second);
                answered(third);
            }
        }
        assertThat(metrics())
                .contains("nv_inference_request_failure{model=\"patient\",reason=\"CANCELED\",version=\"1\"} 0\n");
    }

    private static void answered(RawHttp client) {
        assertThat(new String(client.readBody("HTTP/1.1 200"), StandardCharsets.UTF_8))
                .contains("[5,6]");
    }
}
