// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelLabelsTest {
    @TempDir
    private Path repository;

    private String pageOf(String model, String tags) throws IOException {
        ListenerUnderTest.writeModel(repository, model, 0, "TYPE_FP32 [ 2 ]");
        Files.writeString(repository.resolve(model).resolve("config.pbtxt"), tags, StandardOpenOption.APPEND);
        try (ListenerUnderTest edge = V2TestServer.start(repository)) {
            URI page = URI.create("http://localhost:" + edge.metricsPort() + "/metrics");
            return edge.send(HttpRequest.newBuilder(page).build()).body();
        }
    }

    @Test
    void shouldLabelWhatIsToldOfAModelWithItsTags() throws IOException {
        assertThat(pageOf("tagged", """
                metric_tags { key: "team" value: "vision" }
                metric_tags { key: "cost center" value: "4711 \\"x\\"" }
                """).lines())
                .contains("nv_inference_request_success{"
                        + "_cost_center=\"4711 \\\"x\\\"\",_team=\"vision\",model=\"tagged\",version=\"1\"} 0");
    }

    @Test
    void shouldTellOneOfTwoTagsWhoseNamesBecomeTheSame() throws IOException {
        assertThat(pageOf("twice", """
                metric_tags { key: "a-b" value: "first" }
                metric_tags { key: "a.b" value: "second" }
                metric_tags { key: "__model" value: "third" }
                """).lines())
                .contains(
                        "nv_inference_request_success{_a_b=\"first\",_model=\"third\",model=\"twice\",version=\"1\"} 0");
    }
}
