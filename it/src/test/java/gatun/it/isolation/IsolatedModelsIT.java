// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example models, with every engine in processes of its own, answer as they do in the server. */
@Timeout(240)
class IsolatedModelsIT {
    @RegisterExtension
    static final ServerExtension server =
            ServerExtension.ofExamples("--isolate=onnxruntime,identity", "--isolate=repeat", "--allow-client-shm=true");

    private static final HttpApi http = server.http();

    @Test
    void shouldAnswerOverEveryProtocol() {
        assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM), SimpleModel.jsonData(SimpleModel.DIFFERENCE));
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            ByteString sum = grpc.service().modelInfer(SimpleModel.grpc()).getRawOutputContents(0);
            assertThat(SimpleModel.values(sum.asReadOnlyByteBuffer())).isEqualTo(SimpleModel.SUM);
        }
        assertThat(http.post("/v1/models/simple:predict", """
                        {"inputs": {"INPUT0": [[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]],
                                    "INPUT1": [[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]}}""").body()).contains("OUTPUT0");
    }

    @Test
    void shouldAnswerManyAtATime() {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            answers.add(CompletableFuture.supplyAsync(
                    () -> http.post("/v2/models/simple/infer", SimpleModel.json()),
                    task -> Thread.ofVirtual().start(task)));
        }
        answers.forEach(answer -> assertThat(answer.join().body()).contains(SimpleModel.jsonData(SimpleModel.SUM)));
    }

    @Test
    void shouldAnswerStringsAndEnsembles() {
        String ones = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
        assertThat(http.post("/v2/models/simple_ensemble/generate", "{\"INPUT0\":" + ones + ",\"INPUT1\":" + ones + "}")
                        .statusCode())
                .isEqualTo(200);
        String texts = ones.replace("1", "\"1\"");
        assertThat(http.post(
                                "/v2/models/simple_string/infer",
                                "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"BYTES\",\"shape\":[1,16],\"data\":"
                                        + texts
                                        + "},{\"name\":\"INPUT1\",\"datatype\":\"BYTES\",\"shape\":[1,16],\"data\":"
                                        + texts
                                        + "}]}")
                        .body())
                .contains("\"2\"");
    }

    @Test
    void shouldSendSeveralResponses() {
        assertThat(http.post("/v2/models/repeat_int32/generate_stream", """
                        {"IN": [4, 2, 0], "DELAY": [1, 2, 3], "WAIT": 0}""")
                        .body()
                        .lines()
                        .filter(line -> line.startsWith("data:")))
                .hasSize(3);
    }

    @Test
    void shouldKeepTheStatesOfSequences() {
        for (int i = 1; i <= 3; i++) {
            assertThat(http.post("/v2/models/running_sum/infer", """
                            {"parameters": {"sequence_id": 7, "sequence_start": %s, "sequence_end": %s},
                             "inputs": [{"name": "INPUT", "datatype": "INT32", "shape": [1, 1], "data": [%d]}]}""".formatted(i == 1, i == 3, i))
                            .body())
                    .contains("\"data\":[" + i * (i + 1) / 2 + "]");
        }
    }

    @Test
    void shouldWriteToTheClientsMemory() throws Exception {
        try (SharedObject object = SharedObject.create(256)) {
            assertThat(http.register("isolated", object.key(), "0", "256").statusCode())
                    .isEqualTo(200);
            String response = http.post("/v2/models/identity_fp32/infer", """
                            {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}],
                             "outputs": [{"name": "OUTPUT0", "parameters": {"shared_memory_region": "isolated",
                                          "shared_memory_byte_size": 16, "shared_memory_offset": 64}}]}""").body();
            assertThat(response).doesNotContain("error");
            ByteBuffer written = object.read(64, 16).order(ByteOrder.LITTLE_ENDIAN);
            assertThat(List.of(written.getFloat(), written.getFloat(), written.getFloat(), written.getFloat()))
                    .containsExactly(1f, 2f, 3f, 4f);
            assertThat(http.unregister("isolated").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldTellInTheMetricsWhatProcessesUse() {
        assertThat(http.metric("gatun_worker_deaths{instance=\"simple_0\",model=\"simple\",reason=\"signal\"}"))
                .isZero();
        Await.until(
                "the memory is looked at",
                () -> http.metric("gatun_worker_resident_bytes{instance=\"simple_0\",model=\"simple\"}") > 1 << 20);
    }
}
