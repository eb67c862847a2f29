// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.GatunClient;
import gatun.client.MalformedResponseException;
import gatun.client.ModelMetadata;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Control of servers that speak the protocol without Triton's extensions, or in their own way. */
@Timeout(60)
class OtherServersTest {
    /** Answers by path, and with the errors of web frameworks for others. */
    private static ScriptedServer server(Map<String, String> responses) {
        return ScriptedServer.start(conversation -> {
            for (var request = conversation.read(); request.isPresent(); request = conversation.read()) {
                String response = responses.get(request.get().requestLine().replace(" HTTP/1.1", ""));
                conversation.say(
                        response == null
                                ? ScriptedServer.answer("404 Not Found", "{\"detail\":\"Not Found\"}")
                                : ScriptedServer.ok(response));
            }
        });
    }

    @Test
    void shouldBelieveWhatAHealthyStatusSaysInItsBody() throws Exception {
        try (ScriptedServer server = server(Map.of(
                        "GET /v2/health/live", "{\"live\":true}",
                        "GET /v2/health/ready", "{\"ready\":false}",
                        "GET /v2/models/m/ready", "{\"name\":\"m\",\"ready\":true}",
                        "GET /v2/models/n/ready", "{\"name\":\"n\",\"ready\":false}"));
                GatunClient client = server.client()) {
            assertThat(client.server().live()).isTrue();
            assertThat(client.server().ready()).isFalse();
            assertThat(client.models().ready("m", "")).isTrue();
            assertThat(client.models().ready("n", "")).isFalse();
            assertThat(client.models().ready("o", "")).isFalse();
        }
    }

    @Test
    void shouldTakeMetadataWithMoreAndLess() throws Exception {
        try (ScriptedServer server = server(
                        Map.of(
                                "GET /v2",
                                "{\"name\":\"other\",\"version\":1.25}",
                                "GET /v2/models/m",
                                "{\"name\":\"m\",\"versions\":null,\"platform\":\"\",\"parameters\":{\"a\":[{}]},"
                                        + "\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[-1,4],\"tags\":{}}]}"));
                GatunClient client = server.client()) {
            assertThat(client.server().metadata().version()).isEqualTo("1.25");
            assertThat(client.server().metadata().extensions()).isEmpty();
            ModelMetadata model = client.models().metadata("m");
            assertThat(model.versions()).isEmpty();
            assertThat(model.inputs()).containsExactly(new TensorSpec("IN", Datatype.FP32, Shape.of(-1, 4)));
            assertThat(model.outputs()).isEmpty();
        }
    }

    @Test
    void shouldTellThatAServerHasNoExtensions() throws Exception {
        try (ScriptedServer server = server(Map.of());
                GatunClient client = server.client()) {
            ServerException missing = catchThrowableOfType(
                    ServerException.class, () -> client.models().index(true));
            assertThat(missing).hasMessage("Not Found");
            assertThat(missing.code()).isEqualTo(StatusCode.NOT_FOUND);
        }
    }

    @Test
    void shouldReadConfigurationsAndStatisticsOfNewerServers() throws Exception {
        try (ScriptedServer server = server(Map.of(
                        "GET /v2/models/m/config",
                        "{\"name\":\"m\",\"max_batch_size\":4,\"from_the_future\":{\"a\":1},"
                                + "\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\",\"dims\":[\"4\"]}]}",
                        "GET /v2/models/stats",
                        "{\"model_stats\":[{\"name\":\"m\",\"inference_count\":7,\"new\":1,"
                                + "\"inference_stats\":{\"success\":{\"count\":7,\"ns\":70}}}]}"));
                GatunClient client = server.client()) {
            assertThat(client.models().config("m", "").getMaxBatchSize()).isEqualTo(4);
            assertThat(client.models().config("m", "").getInput(0).getDims(0)).isEqualTo(4);
            assertThat(client.models()
                            .statistics("", "")
                            .getFirst()
                            .getInferenceStats()
                            .getSuccess()
                            .getNs())
                    .isEqualTo(70);
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAControlAnswer() throws Exception {
        try (ScriptedServer server = server(Map.of(
                        "GET /v2", "<html>",
                        "GET /v2/models/m", "[]",
                        "GET /v2/models/m/config", "{\"max_batch_size\":\"many\"}",
                        "GET /v2/systemsharedmemory/status", "[{\"name\":\"r\",\"byte_size\":\"large\"}]",
                        "POST /v2/repository/index", "{}"));
                GatunClient client = server.client()) {
            assertThat(catchThrowableOfType(MalformedResponseException.class, () -> client.server()
                            .metadata()))
                    .hasMessageContaining("answered GET /v2 with what is no answer: its JSON cannot be read");
            assertThat(catchThrowableOfType(MalformedResponseException.class, () -> client.models()
                            .metadata("m")))
                    .hasMessageContaining("expected an object");
            assertThat(catchThrowableOfType(MalformedResponseException.class, () -> client.models()
                            .config("m", "")))
                    .hasMessageContaining("its JSON cannot be read");
            assertThat(catchThrowableOfType(MalformedResponseException.class, () -> client.regions()
                            .regions()))
                    .hasMessageContaining("'byte_size' is no integer");
            assertThat(catchThrowableOfType(MalformedResponseException.class, () -> client.models()
                            .index(false)))
                    .hasMessageContaining("expected an array");
            // The responses were read to their ends.
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldExchangeAnythingElse() throws Exception {
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    for (var request = conversation.read(); request.isPresent(); request = conversation.read()) {
                        conversation.say(ScriptedServer.answer(
                                "418 I'm a teapot",
                                request.get().requestLine() + " "
                                        + request.get().body(),
                                "X-Brewed: yes"));
                    }
                });
                HttpExchanges exchanges = new HttpExchanges(server.options())) {
            for (int call = 0; call < 2; call++) {
                HttpResult reply = exchanges.exchange(
                        "POST",
                        "/v1/models/m:predict",
                        Map.of("Content-Type", "application/json"),
                        MemorySegment.ofArray("{}".getBytes(UTF_8)));
                assertThat(reply.status()).isEqualTo(418);
                assertThat(reply.header("x-brewed")).hasValue("yes");
                assertThat(reply.header("x-other")).isEmpty();
                assertThat(new String(reply.body(), UTF_8)).isEqualTo("POST /v1/models/m:predict HTTP/1.1 {}");
            }
            assertThat(server.connections()).isEqualTo(1);
            assertThatThrownBy(() -> exchanges.exchange("HEAD", "/v2", Map.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the method HEAD");
        }
    }
}
