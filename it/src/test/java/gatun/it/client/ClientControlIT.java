// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.RepositoryModel;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.TlsOptions;
import gatun.client.UnreachableException;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Tensor;
import gatun.testing.Certificates;
import gatun.wire.inference.ModelStatistics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the client's control of the real server over HTTP, the access it needs, and calls that are given up. */
@Timeout(180)
class ClientControlIT {
    private static final Tensor LEFT = ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16);
    private static final Tensor RIGHT = ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16);

    @TempDir
    Path folder;

    private static GatunClient client(ServerProcess server) {
        return GatunClient.connect("http://127.0.0.1:" + server.httpPort());
    }

    private static int sum(GatunClient client, String model) {
        try (InferResponse response = client.infer(model, LEFT, RIGHT)) {
            return response.ints("OUTPUT0")[0];
        }
    }

    @Test
    void shouldLoadAndUnloadModels() throws Exception {
        new ModelRepositoryFolder(folder).simple("first", "", 1);
        try (ServerProcess server = ServerProcess.launch(folder, "--model-control-mode=explicit");
                GatunClient client = client(server)) {
            assertThat(client.models().index(false)).containsExactly(new RepositoryModel("first", "", "", ""));
            assertThat(client.models().ready("first", "")).isFalse();
            client.models().load("first");
            assertThat(client.models().ready("first", "1")).isTrue();
            assertThat(client.models().index(true)).containsExactly(new RepositoryModel("first", "1", "READY", ""));
            assertThat(sum(client, "first")).isEqualTo(SimpleModel.SUM[0]);

            client.models()
                    .load(
                            "brought",
                            "{\"backend\":\"onnxruntime\",\"max_batch_size\":3}",
                            Map.of("7/model.onnx", ModelRepositoryFolder.simpleModelFile()));
            assertThat(client.models().config("brought", "7").getMaxBatchSize()).isEqualTo(3);
            assertThat(client.models().metadata("brought").versions()).containsExactly("7");
            assertThat(sum(client, "brought")).isEqualTo(SimpleModel.SUM[0]);

            client.models().unload("first", true);
            client.models().unload("brought");
            client.models().unload("nobody");
            ServerException unknown = catchThrowableOfType(
                    ServerException.class, () -> client.models().load("nobody"));
            assertThat(unknown).hasMessageContaining("nobody");
        }
    }

    @Test
    void shouldTellHowModelsFare() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                GatunClient client = client(server)) {
            for (int call = 0; call < 3; call++) {
                sum(client, "simple");
            }
            List<ModelStatistics> statistics = client.models().statistics("simple", "");
            assertThat(statistics).hasSize(1);
            assertThat(statistics.getFirst().getInferenceCount()).isEqualTo(3);
            assertThat(statistics.getFirst().getInferenceStats().getSuccess().getNs())
                    .isPositive();
            assertThatThrownBy(() -> client.models().statistics("nobody", "")).isInstanceOf(ServerException.class);
            assertThatThrownBy(() -> client.models().config("nobody", "")).isInstanceOf(ServerException.class);
            assertThatThrownBy(() -> client.models().metadata("nobody")).isInstanceOf(ServerException.class);
            assertThatThrownBy(() -> client.regions().register("x", "/y", 0, 64))
                    .isInstanceOf(ServerException.class)
                    .extracting(failure -> ((ServerException) failure).code())
                    .isEqualTo(StatusCode.UNIMPLEMENTED);
            assertThatThrownBy(() -> client.regions().registerCuda("x", new byte[64], 0, 64))
                    .isInstanceOf(ServerException.class)
                    .extracting(failure -> ((ServerException) failure).code())
                    .isEqualTo(StatusCode.UNIMPLEMENTED);
        }
    }

    @Test
    void shouldShowItsToken() throws Exception {
        Path tokens = Files.writeString(folder.resolve("tokens"), "open-sesame\n");
        try (ServerProcess server =
                ServerProcess.launch(ServerProcess.exampleModels(), "--http-token-file=inference:" + tokens)) {
            ClientOptions options = ClientOptions.of("http://127.0.0.1:" + server.httpPort());
            try (GatunClient client = GatunClient.connect(options)) {
                ServerException refused =
                        catchThrowableOfType(ServerException.class, () -> client.infer("simple", LEFT, RIGHT));
                assertThat(refused.code()).isEqualTo(StatusCode.UNAUTHENTICATED);
                assertThat(refused.status()).isEqualTo(401);
                assertThat(client.server().ready()).isTrue();
            }
            try (GatunClient client = GatunClient.connect(options.withToken("open-sesame"))) {
                assertThat(sum(client, "simple")).isEqualTo(SimpleModel.SUM[0]);
            }
        }
    }

    @Test
    void shouldSpeakTls() throws Exception {
        Certificates.Identity identity = new Certificates(folder).identity("server");
        try (ServerProcess server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--http-server-cert=" + identity.certificate(),
                "--http-server-key=" + identity.key())) {
            ClientOptions options = ClientOptions.of("https://localhost:" + server.httpPort());
            try (GatunClient client =
                    GatunClient.connect(options.withTls(TlsOptions.trusting(identity.certificate())))) {
                assertThat(sum(client, "simple")).isEqualTo(SimpleModel.SUM[0]);
                float[] values = new float[1 << 20];
                values[values.length - 1] = 7;
                try (InferResponse response = client.infer("identity_fp32", ArrayTensors.of("INPUT0", values))) {
                    assertThat(response.floats("OUTPUT0")).isEqualTo(values);
                }
            }
            try (GatunClient client = GatunClient.connect(options)) {
                assertThatThrownBy(() -> client.server().metadata()).isInstanceOf(UnreachableException.class);
            }
        }
    }

    @Test
    void shouldFreeTheServerOfACallThatIsCancelled() throws Exception {
        new ModelRepositoryFolder(folder).delay("slow", 600_000);
        try (ServerProcess server = ServerProcess.launch(folder, "--exit-timeout-secs=1");
                GatunClient client = client(server)) {
            InferRequest request =
                    InferRequest.to("slow").input("IN", new int[] {1}, 1).build();
            CompletableFuture<InferResponse> call = client.inferAsync(request);
            assertThatThrownBy(() -> client.infer(InferRequest.to("slow")
                            .input("IN", new int[] {1}, 1)
                            .deadline(Duration.ofMillis(200))
                            .build()))
                    .hasMessageContaining("within the deadline of 200 ms");
            assertThat(call.cancel(true)).isTrue();
            assertThat(client.server().live()).isTrue();
        }
    }
}
