// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.wire.inference.LogSettingsRequest;
import gatun.wire.inference.LogSettingsResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The log of the real server, changed while it runs. */
@Timeout(120)
class LoggingIT {
    private static void loadAndUnload(HttpApi http) {
        assertThat(http.post("/v2/repository/models/identity_fp32/load", "").statusCode())
                .isEqualTo(200);
        assertThat(http.post("/v2/repository/models/identity_fp32/unload", "").statusCode())
                .isEqualTo(200);
    }

    @Test
    void shouldLogOtherwiseFromTheNextLineOn() throws Exception {
        try (ServerProcess server =
                        ServerProcess.launch(ServerProcess.exampleModels(), "--model-control-mode=explicit");
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            loadAndUnload(http);
            int before = server.log().length();
            assertThat(server.log()).contains("identity_fp32").doesNotContain("Z I ");

            assertThat(http.post("/v2/logging", "{\"log_format\":\"ISO8601\"}").body())
                    .contains("\"log_format\":\"ISO8601\"");
            loadAndUnload(http);
            String iso = server.log().substring(before);
            assertThat(iso).containsPattern("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ I \\d+ .*identity_fp32");

            LogSettingsResponse quiet = grpc.service()
                    .logSettings(LogSettingsRequest.newBuilder()
                            .putSettings(
                                    "log_info",
                                    LogSettingsRequest.SettingValue.newBuilder()
                                            .setBoolParam(false)
                                            .build())
                            .build());
            assertThat(quiet.getSettingsOrThrow("log_info").getBoolParam()).isFalse();
            assertThat(quiet.getSettingsOrThrow("log_format").getStringParam()).isEqualTo("ISO8601");
            int silent = server.log().length();
            loadAndUnload(http);
            assertThat(server.log().substring(silent)).doesNotContain("identity_fp32");
        }
    }
}
