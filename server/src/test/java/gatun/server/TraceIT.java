package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.inference.TraceSettingRequest;
import gatun.protocol.inference.TraceSettingResponse;
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
}
