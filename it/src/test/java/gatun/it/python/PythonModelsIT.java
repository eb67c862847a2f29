// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Triton's Python models, as their authors write them, asked by a client over HTTP. */
@Timeout(180)
class PythonModelsIT {
    private static final String X = input("X", "FP32", "-1");
    private static final String Y = output("Y", "FP32", "-1");

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(PythonModelsIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        PythonModels models = new PythonModels(folder);
        models.write("double", X + Y, """
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        return [pb_utils.InferenceResponse(
                                    [pb_utils.Tensor("Y", r.inputs()[0].as_numpy() * 2)],
                                    parameters={"id": r.request_id(), "seen": r.parameters()})
                                for r in requests]
                """);
        models.write(
                "batched",
                "max_batch_size: 8\ndynamic_batching { preferred_batch_size: [4] max_queue_delay_microseconds: 30000000 }\n"
                        + input("X", "FP32", "1") + output("Y", "FP32", "-1") + output("COUNT", "INT32", "1"),
                """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        responses = []
                        for request in requests:
                            x = int(request.inputs()[0].as_numpy()[0][0])
                            if x == 3:
                                error = pb_utils.TritonError("three is refused", pb_utils.TritonError.INVALID_ARG)
                                responses.append(pb_utils.InferenceResponse(error=error))
                                continue
                            responses.append(pb_utils.InferenceResponse([
                                pb_utils.Tensor("Y", np.full((1, x), x, np.float32)),
                                pb_utils.Tensor("COUNT", np.array([[len(requests)]], np.int32))]))
                        return responses
                """);
        models.write("upper", input("TEXT", "STRING", "-1") + output("UPPER", "STRING", "-1"), """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("UPPER", np.array(
                                    [t.decode().upper() for t in r.inputs()[0].as_numpy()], dtype=np.object_))])
                                for r in requests]
                """);
        models.write("fails", X + Y, """
                class TritonPythonModel:
                    def execute(self, requests):
                        raise ValueError("no such thing as " + str(requests[0].inputs()[0].as_numpy()[0]))
                """);
        models.write("syntax", X + Y, """
                class TritonPythonModel:
                    def execute(self, requests):
                        return [
                """);
        models.write("calls", input("INPUT0", "INT32", "1, 16") + output("OUTPUT0", "INT32", "1, 16"), """
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def initialize(self, args):
                        self.family = pb_utils.MetricFamily(
                            "calls_made", "Calls of simple", pb_utils.MetricFamily.COUNTER)
                        self.metric = self.family.Metric(labels={"to": "simple"})

                    def execute(self, requests):
                        responses = []
                        for request in requests:
                            x = request.inputs()[0]
                            call = pb_utils.InferenceRequest(
                                model_name="simple", requested_output_names=["OUTPUT0"],
                                inputs=[x, pb_utils.Tensor("INPUT1", x.as_numpy() * 10)])
                            answer = call.exec()
                            if answer.has_error():
                                raise pb_utils.TritonModelException(answer.error().message())
                            self.metric.increment(1)
                            responses.append(pb_utils.InferenceResponse(answer.output_tensors()))
                        return responses
                """);
        models.write(
                "counts",
                "model_transaction_policy { decoupled: true }\n" + input("N", "INT32", "1") + output("I", "INT32", "1"),
                """
                import threading
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        for request in requests:
                            n = int(request.inputs()[0].as_numpy()[0])
                            threading.Thread(target=self.send, args=(request.get_response_sender(), n)).start()

                    def send(self, sender, n):
                        for i in range(n):
                            sender.send(pb_utils.InferenceResponse(
                                [pb_utils.Tensor("I", np.array([i], np.int32))]))
                        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
                """);
        models.write(
                "sums",
                "max_batch_size: 4\nsequence_batching { oldest { max_candidate_sequences: 4 } }\n"
                        + input("X", "FP32", "1") + output("SUM", "FP32", "1") + output("UNUSED", "FP32", "1"),
                """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def initialize(self, args):
                        self.sums = {}

                    def execute(self, requests):
                        responses = []
                        for request in requests:
                            sequence = request.correlation_id()
                            if request.flags() & pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START:
                                self.sums[sequence] = np.float32(0)
                            self.sums[sequence] += request.inputs()[0].as_numpy()[0][0]
                            # Without the batch dimension, and without an output, as models may have it.
                            responses.append(pb_utils.InferenceResponse(
                                [pb_utils.Tensor("SUM", np.array([self.sums[sequence]], np.float32))]))
                        return responses
                """);
        Files.createDirectories(folder.resolve("completes/1"));
        Files.writeString(folder.resolve("completes/1/model.py"), """
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    @staticmethod
                    def auto_complete_config(config):
                        config.add_input({"name": "X", "data_type": "TYPE_INT64", "dims": [2]})
                        config.add_output({"name": "Y", "data_type": "TYPE_INT64", "dims": [2]})
                        config.set_max_batch_size(0)
                        return config

                    def execute(self, requests):
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", r.inputs()[0].as_numpy()[::-1])])
                                for r in requests]
                """);
        copySimple();
        return ServerProcess.launch(folder, "--exit-on-error=false", PythonModels.executable());
    }

    private static void copySimple() throws IOException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        Files.createDirectories(folder.resolve("simple/1"));
        Files.copy(simple.resolve("config.pbtxt"), folder.resolve("simple/config.pbtxt"));
        Files.copy(simple.resolve("1/model.onnx"), folder.resolve("simple/1/model.onnx"));
    }

    private static HttpResponse<String> infer(String model, String inputs) {
        return http.post("/v2/models/" + model + "/infer", "{\"inputs\":[" + inputs + "]}");
    }

    private static String tensor(String name, String datatype, String shape, String data) {
        return "{\"name\":\"" + name + "\",\"datatype\":\"" + datatype + "\",\"shape\":[" + shape + "],\"data\":["
                + data + "]}";
    }

    @Test
    void shouldAnswerWithTensorsAndParameters() {
        HttpResponse<String> response = http.post(
                "/v2/models/double/infer",
                "{\"id\":\"7\",\"parameters\":{\"shade\":\"blue\",\"level\":3},\"inputs\":["
                        + tensor("X", "FP32", "3", "1,2.5,-3") + "]}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body())
                .contains("\"data\":[2.0,5.0,-6.0]", "\"id\":\"7\"", "\\\"shade\\\"", "\\\"blue\\\"", "\\\"level\\\"");
    }

    @Test
    void shouldGiveABatchsRequestsOneByOneAndFailThemOneByOne() throws Exception {
        List<Callable<HttpResponse<String>>> calls = new ArrayList<>();
        for (int x = 1; x <= 4; x++) {
            String request = tensor("X", "FP32", "1,1", Integer.toString(x));
            calls.add(() -> infer("batched", request));
        }
        List<HttpResponse<String>> responses = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<HttpResponse<String>> call : callers.invokeAll(calls)) {
                responses.add(call.get());
            }
        }
        // Each has a shape of its own, and the third one's failure is its own.
        for (int x : new int[] {1, 2, 4}) {
            assertThat(responses.get(x - 1).body())
                    .contains("\"shape\":[1," + x + "]")
                    .contains("\"name\":\"COUNT\",\"datatype\":\"INT32\",\"shape\":[1,1],\"data\":[4]");
        }
        assertThat(responses.get(2).statusCode()).isEqualTo(400);
        assertThat(responses.get(2).body()).contains("three is refused");
    }

    @Test
    void shouldExchangeStrings() {
        assertThat(infer("upper", tensor("TEXT", "BYTES", "3", "\"grün\",\"\",\"b\""))
                        .body())
                .contains("\"data\":[\"GRÜN\",\"\",\"B\"]");
    }

    @Test
    void shouldTellTheLastLineOfATraceback() {
        HttpResponse<String> response = infer("fails", tensor("X", "FP32", "1", "4"));
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("'fails_0'", "ValueError: no such thing as 4.0");
    }

    @Test
    void shouldTellWhereASyntaxErrorIs() {
        assertThat(http.post("/v2/repository/index", "").body())
                .contains("\"name\":\"syntax\"", "SyntaxError", "model.py");
        assertThat(http.get("/v2/models/syntax/ready").statusCode()).isEqualTo(400);
    }

    @Test
    void shouldLetAModelAskAnotherAndCountIt() {
        double before = http.metric("calls_made{to=\"simple\"}");
        String ones = "1,".repeat(15) + "1";
        assertThat(infer("calls", tensor("INPUT0", "INT32", "1,16", ones)).body())
                .contains("\"data\":[" + "11,".repeat(15) + "11]");
        assertThat(http.metric("calls_made{to=\"simple\"}")).isEqualTo(before + 1);
    }

    @Test
    void shouldStreamTheResponsesOfADecoupledModel() {
        HttpResponse<String> response = http.post("/v2/models/counts/generate_stream", "{\"N\": [40]}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body().lines().filter(line -> line.startsWith("data: ")))
                .hasSize(40)
                .element(39)
                .asString()
                .contains("\"I\":39");
    }

    @Test
    void shouldKeepSequencesApart() {
        for (int step = 0; step < 3; step++) {
            for (int sequence = 1; sequence <= 3; sequence++) {
                String body = "{\"parameters\":{\"sequence_id\":" + sequence + ",\"sequence_start\":" + (step == 0)
                        + ",\"sequence_end\":" + (step == 2) + "},\"inputs\":["
                        + tensor("X", "FP32", "1,1", Integer.toString(sequence)) + "]}";
                assertThat(http.post("/v2/models/sums/infer", body).body())
                        .contains("\"data\":[" + sequence * (step + 1) + ".0]");
            }
        }
    }

    @Test
    void shouldCompleteAConfiguration() {
        assertThat(http.get("/v2/models/completes/config").body())
                .contains("\"name\":\"X\",\"data_type\":\"TYPE_INT64\"")
                .contains("\"dims\":[2]");
        assertThat(infer("completes", tensor("X", "INT64", "2", "5,6")).body()).contains("\"data\":[6,5]");
    }

    /** Each side gives back what the other has sent: more passes through than there is memory. */
    @Test
    void shouldGiveMemoryBack() {
        String much = IntStream.range(0, 200_000)
                .mapToObj(i -> "1")
                .reduce((a, b) -> a + "," + b)
                .orElseThrow();
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> response = infer("double", tensor("X", "FP32", "200000", much));
            assertThat(response.statusCode()).isEqualTo(200);
        }
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
    }
}
