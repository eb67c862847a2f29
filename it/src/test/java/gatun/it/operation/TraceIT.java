// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.TraceSettingRequest;
import gatun.wire.inference.TraceSettingResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces of the real server, by flags and by requests. */
@Timeout(120)
class TraceIT {
    @Test
    void shouldRefuseAFileThatCannotBeWrittenAtTheStart() {
        ServerProcess server = ServerProcess.run(
                "serve",
                "--model-repository=" + ServerProcess.exampleModels(),
                "--trace-config=triton,file=/no/such/folder/traces");

        assertThat(server.transcript())
                .contains("--trace-config=triton,file=/no/such/folder/traces cannot be written: no such file or"
                        + " directory; name a file in a folder that exists and that this user may write to");
    }

    @Test
    void shouldTraceAnEnsembleAndItsMembersUntilTold(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("trace.json");
        String ones = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
        String inputs = "{\"id\":\"e\",\"INPUT0\":" + ones + ",\"INPUT1\":" + ones + "}";
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--model-control-mode=explicit",
                        "--load-model=simple_ensemble",
                        "--trace-config=level=TIMESTAMPS",
                        "--trace-config=rate=1",
                        "--trace-config=triton,file=" + file);
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(http.post("/v2/models/simple_ensemble/generate", inputs).statusCode())
                    .isEqualTo(200);
            TraceSettingResponse off = grpc.service()
                    .traceSetting(TraceSettingRequest.newBuilder()
                            .putSettings(
                                    "trace_level",
                                    TraceSettingRequest.SettingValue.newBuilder()
                                            .addValue("OFF")
                                            .build())
                            .build());
            assertThat(off.getSettingsOrThrow("trace_level").getValueList()).containsExactly("OFF");
            assertThat(off.getSettingsOrThrow("trace_file").getValueList()).containsExactly(file.toString());
            assertThat(http.post("/v2/models/simple_ensemble/generate", inputs).statusCode())
                    .isEqualTo(200);
        }
        List<String> lines = Files.readAllLines(file);
        assertThat(lines).first().isEqualTo("[");
        assertThat(lines).last().isEqualTo("]");
        assertThat(lines)
                .filteredOn(line -> line.contains("\"model_name\":\"simple_ensemble\""))
                .singleElement()
                .asString()
                .startsWith("{\"id\":1,")
                .contains("\"request_id\":\"e\"")
                .doesNotContain("parent_id");
        assertThat(lines)
                .filteredOn(line -> line.contains("\"parent_id\":1"))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).contains("model_name").doesNotContain("simple_ensemble"));
        assertThat(String.join("", lines)).contains("COMPUTE_INPUT_END", "HTTP_RECV_END", "REQUEST_END");
    }

    @Test
    void shouldTellTheTensorsOfAnEnsembleAndItsMembers(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("trace.json");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--model-control-mode=explicit",
                        "--load-model=simple_ensemble",
                        "--trace-config=level=TENSORS",
                        "--trace-config=rate=1",
                        "--trace-config=triton,file=" + file);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/simple_ensemble/infer", SimpleModel.json())
                            .statusCode())
                    .isEqualTo(200);
        }
        List<JsonObject> objects = JsonParser.parseString(Files.readString(file)).getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .toList();
        List<Integer> members = objects.stream()
                .filter(object -> object.has("parent_id"))
                .map(object -> object.get("id").getAsInt())
                .toList();

        assertThat(members).isNotEmpty();
        assertThat(activities(objects, 1))
                .contains("TENSOR_QUEUE_INPUT INPUT0 1,16 INT32", "TENSOR_QUEUE_INPUT INPUT1 1,16 INT32")
                .anyMatch(activity -> activity.startsWith("TENSOR_BACKEND_OUTPUT"));
        assertThat(members).allSatisfy(member -> assertThat(activities(objects, member))
                .anyMatch(activity -> activity.startsWith("TENSOR_QUEUE_INPUT"))
                .anyMatch(activity -> activity.startsWith("TENSOR_BACKEND_OUTPUT")));
        assertThat(objects)
                .filteredOn(object -> object.has("tensor"))
                .extracting(
                        object -> object.getAsJsonObject("tensor").get("data").getAsString())
                .contains("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
        assertThat(objects).noneMatch(object -> object.has("timestamps"));
    }

    @Test
    void shouldTellOfGrpcRequestsWhetherTheyCanBeReadOrNot(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("trace.json");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--model-control-mode=explicit",
                        "--load-model=simple",
                        "--trace-config=level=TIMESTAMPS",
                        "--trace-config=rate=1",
                        "--trace-config=triton,file=" + file);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            ModelInferRequest withoutData = SimpleModel.grpc().toBuilder()
                    .clearRawInputContents()
                    .setId("unreadable")
                    .build();
            assertThatThrownBy(() -> grpc.service().modelInfer(withoutData))
                    .hasMessageContaining("unable to find data for input tensor 'INPUT0'");
            grpc.service().modelInfer(SimpleModel.grpc());
        }
        assertThat(stages(file, 1)).containsExactly("GRPC_WAITREAD_START");
        assertThat(stages(file, 2))
                .containsExactly(
                        "GRPC_WAITREAD_START",
                        "GRPC_WAITREAD_END",
                        "REQUEST_START",
                        "QUEUE_START",
                        "COMPUTE_START",
                        "COMPUTE_INPUT_END",
                        "COMPUTE_OUTPUT_START",
                        "COMPUTE_END",
                        "REQUEST_END",
                        "INFER_RESPONSE_COMPLETE",
                        "GRPC_SEND_START",
                        "GRPC_SEND_END");
    }

    /** The stages that the trace {@code id} tells. */
    private static List<String> stages(Path file, int id) throws IOException {
        return JsonParser.parseString(Files.readString(file)).getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(object -> object.get("id").getAsInt() == id && object.has("timestamps"))
                .map(object -> object.getAsJsonArray("timestamps").get(0).getAsJsonObject())
                .map(timestamp -> timestamp.get("name").getAsString())
                .toList();
    }

    /** The tensors of the trace {@code id}, without their elements. */
    private static List<String> activities(List<JsonObject> objects, int id) {
        return objects.stream()
                .filter(object -> object.get("id").getAsInt() == id && object.has("tensor"))
                .map(object -> {
                    JsonObject tensor = object.getAsJsonObject("tensor");
                    return String.join(
                            " ",
                            object.get("activity").getAsString(),
                            tensor.get("name").getAsString(),
                            tensor.get("shape").getAsString(),
                            tensor.get("dtype").getAsString());
                })
                .toList();
    }
}
