// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Inference in plain JSON with the real server. */
@Timeout(120)
class GenerateIT {
    @Test
    void shouldAnswerATextAndAStreamOfEvents() throws Exception {
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--model-control-mode=explicit",
                        "--load-model=repeat_int32",
                        "--load-model=simple");
                HttpApi http = new HttpApi(server)) {
            String ones = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
            HttpResponse<String> sum =
                    http.post("/v2/models/simple/generate", "{\"INPUT0\":" + ones + ",\"INPUT1\":" + ones + "}");
            assertThat(sum.body()).startsWith("{\"OUTPUT0\":" + ones.replace('1', '2') + ",\"OUTPUT1\":[0,");

            HttpResponse<Stream<String>> events = http.send(
                    HttpRequest.newBuilder(server.http("/v2/models/repeat_int32/generate_stream"))
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"IN\":[4,5],\"DELAY\":[1,1],\"WAIT\":0,\"id\":\"e\"}")),
                    HttpResponse.BodyHandlers.ofLines());
            List<String> lines = events.body().filter(line -> !line.isEmpty()).toList();
            assertThat(lines)
                    .containsExactly(
                            "data: {\"IDX\":0,\"OUT\":4,\"id\":\"e\",\"model_name\":\"repeat_int32\",\"model_version\":\"1\"}",
                            "data: {\"IDX\":1,\"OUT\":5,\"id\":\"e\",\"model_name\":\"repeat_int32\",\"model_version\":\"1\"}");
        }
    }
}
