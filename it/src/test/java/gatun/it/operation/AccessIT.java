// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.wire.inference.ServerMetadataRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Restrictions, tokens and forwarded headers of the real server, by its flags. */
@Timeout(120)
class AccessIT {
    private static HttpRequest.Builder infer(ServerProcess server) {
        return HttpRequest.newBuilder(server.http("/v2/models/slow/generate"))
                .POST(HttpRequest.BodyPublishers.ofString("{\"IN\":1}"));
    }

    @Test
    void shouldAdmitWhoSendsWhatTheFlagsAskFor(@TempDir Path folder) throws Exception {
        new ModelRepositoryFolder(Files.createDirectories(folder.resolve("models"))).delay("slow", 0);
        Path tokens = Files.writeString(folder.resolve("tokens"), "open-sesame\n");
        try (ServerProcess server = ServerProcess.launch(
                        folder.resolve("models"),
                        "--http-restricted-api=model-repository,logging:admin-key=secret",
                        "--grpc-restricted-protocol=metadata:key=secret",
                        "--http-token-file=inference:" + tokens,
                        "--http-header-forward-pattern=^execute_delay_ms$");
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(http.get("/v2/logging").statusCode()).isEqualTo(403);
            HttpResponse.BodyHandler<String> text = HttpResponse.BodyHandlers.ofString();
            assertThat(http.send(
                                    HttpRequest.newBuilder(server.http("/v2/logging"))
                                            .header("admin-key", "secret"),
                                    text)
                            .statusCode())
                    .isEqualTo(200);
            StatusRuntimeException refused = catchThrowableOfType(StatusRuntimeException.class, () -> grpc.service()
                    .serverMetadata(ServerMetadataRequest.getDefaultInstance()));
            assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(refused.getStatus().getDescription()).contains("'triton-grpc-protocol-key'");

            assertThat(http.send(infer(server), text).statusCode()).isEqualTo(401);
            assertThat(http.send(infer(server).header("Authorization", "Bearer open-sesame"), text)
                            .statusCode())
                    .isEqualTo(200);
            // The backend wants an integer; that it sees a text shows that the header has become a parameter.
            HttpResponse<String> forwarded = http.send(
                    infer(server).header("Authorization", "Bearer open-sesame").header("execute_delay_ms", "7"), text);
            assertThat(forwarded.statusCode()).isEqualTo(400);
            assertThat(forwarded.body()).contains("execute_delay_ms").contains("value=7");
        }
    }
}
