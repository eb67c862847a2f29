// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.StreamClient;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.Status;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Python models with any number of responses: several requests in one call, failures among responses, cancellation. */
@Timeout(180)
class PythonStreamsIT {
    private static final String DECOUPLED = "model_transaction_policy { decoupled: true }\n";
    private static final String TENSORS = input("N", "INT32", "1") + output("I", "INT32", "1");

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(PythonStreamsIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    private static ServerProcess start() throws Exception {
        PythonModels models = new PythonModels(folder);
        models.write(
                "together",
                "max_batch_size: 4\n" + DECOUPLED
                        + "dynamic_batching { preferred_batch_size: [2] max_queue_delay_microseconds: 30000000 }\n"
                        + TENSORS,
                """
                import threading
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def initialize(self, args):
                        self.first = threading.Event()

                    def execute(self, requests):
                        for index, request in enumerate(requests):
                            threading.Thread(
                                target=self.send, args=(request.get_response_sender(), index, len(requests))).start()

                    def send(self, sender, index, count):
                        # The second request has its responses before the first.
                        if index == 0:
                            self.first.wait()
                            error = pb_utils.TritonError("the first is refused", pb_utils.TritonError.INVALID_ARG)
                            sender.send(pb_utils.InferenceResponse(error=error))
                        else:
                            sender.send(pb_utils.InferenceResponse(
                                [pb_utils.Tensor("I", np.array([[count]], np.int32))]))
                            self.first.set()
                        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
                """);
        models.write("mixed", DECOUPLED + TENSORS, """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        for request in requests:
                            sender = request.get_response_sender()
                            sender.send(self.number(1))
                            sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError("no two")))
                            sender.send(self.number(3))
                            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

                    def number(self, i):
                        return pb_utils.InferenceResponse([pb_utils.Tensor("I", np.array([i], np.int32))])
                """);
        models.write("deaf", DECOUPLED + TENSORS, """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        for request in requests:
                            sender = request.get_response_sender()
                            for i in range(3):
                                sender.send(pb_utils.InferenceResponse(
                                    [pb_utils.Tensor("I", np.array([i], np.int32))]))
                                while not sender.is_cancelled():
                                    pass
                            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
                """);
        models.write("asks_deaf", TENSORS, ask("deaf", "answers.cancel()"));
        models.write("asks_mixed", TENSORS, ask("mixed", "pass"));
        models.write("partial", input("N", "INT32", "1") + output("I", "INT32", "1") + output("J", "INT32", "1"), """
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("J", r.inputs()[0].as_numpy())])
                                for r in requests]
                """);
        return ServerProcess.launch(folder, PythonModels.executable());
    }

    /** A model that answers with the number of results of a call, 10 for each failure among them. */
    private static String ask(String model, String afterFirst) {
        return """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        call = pb_utils.InferenceRequest(
                            model_name="MODEL", requested_output_names=["I"], inputs=requests[0].inputs())
                        count = 0
                        answers = call.exec(decoupled=True)
                        for answer in answers:
                            if answer.has_error():
                                count += 10
                            elif answer.output_tensors():
                                count += 1
                                AFTER
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("I", np.array([count], np.int32))])]
                """.replace("MODEL", model).replace("AFTER", afterFirst);
    }

    private static ModelInferRequest request(String model, String id, int... shape) {
        InferInputTensor.Builder tensor =
                InferInputTensor.newBuilder().setName("N").setDatatype("INT32");
        for (int dim : shape) {
            tensor.addShape(dim);
        }
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .setId(id)
                .putParameters(
                        "triton_enable_empty_final_response",
                        InferParameter.newBuilder().setBoolParam(true).build())
                .addInputs(tensor)
                .addRawInputContents(ByteString.copyFrom(new byte[Integer.BYTES]))
                .build();
    }

    private static int number(ModelInferResponse response) {
        ByteBuffer bytes = response.getRawOutputContents(0).asReadOnlyByteBuffer();
        return bytes.order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    private static boolean isFinal(ModelInferResponse response) {
        return response.getParametersOrThrow("triton_final_response").getBoolParam();
    }

    @Test
    void shouldGiveAModelSeveralRequestsInOneCall() throws Exception {
        StreamClient stream = StreamClient.open(grpc);
        stream.send(request("together", "a", 1, 1));
        stream.send(request("together", "b", 1, 1));
        Map<String, String> answers = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            ModelStreamInferResponse message = stream.nextMessage();
            ModelInferResponse response = message.getInferResponse();
            if (!message.getErrorMessage().isEmpty()) {
                answers.put(response.getId(), message.getErrorMessage());
            } else if (response.getOutputsCount() > 0) {
                answers.put(response.getId(), "of " + number(response));
            }
        }
        assertThat(answers.keySet()).containsExactlyInAnyOrder("a", "b");
        assertThat(answers.values()).containsExactlyInAnyOrder("the first is refused", "of 2");
        stream.complete();
        assertThat(stream.end().getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void shouldGoOnAfterAFailureAmongTheResponses() throws Exception {
        StreamClient stream = StreamClient.open(grpc);
        stream.send(request("mixed", "a", 1));
        assertThat(number(stream.next())).isEqualTo(1);
        ModelStreamInferResponse failure = stream.nextMessage();
        assertThat(failure.getErrorMessage()).isEqualTo("no two");
        assertThat(failure.getInferResponse().getId()).isEqualTo("a");
        assertThat(isFinal(failure.getInferResponse())).isFalse();
        assertThat(number(stream.next())).isEqualTo(3);
        assertThat(isFinal(stream.next())).isTrue();
        stream.complete();
        assertThat(stream.end().getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void shouldSendAnEventForAFailureAmongTheResponses() {
        HttpResponse<String> response = http.post("/v2/models/mixed/generate_stream", "{\"N\": [0]}");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body().lines().filter(line -> line.startsWith("data: ")))
                .hasSize(3)
                .element(1)
                .isEqualTo("data: {\"error\":\"no two\"}");
    }

    private static String infer(String model) {
        return http.post(
                        "/v2/models/" + model + "/infer",
                        "{\"inputs\":[{\"name\":\"N\",\"datatype\":\"INT32\",\"shape\":[1],\"data\":[5]}]}")
                .body();
    }

    @Test
    void shouldPassOnTheResponsesOfAModelThatIgnoresItsCancellation() {
        assertThat(infer("asks_deaf")).contains("\"data\":[3]");
    }

    @Test
    void shouldPassOnAFailureAmongTheResponsesToAModelThatAsks() {
        assertThat(infer("asks_mixed")).contains("\"data\":[12]");
    }

    @Test
    void shouldAnswerWithoutAnOutputThatTheModelDoesNotReturn() {
        assertThat(infer("partial")).contains("\"name\":\"J\"", "\"data\":[5]").doesNotContain("\"name\":\"I\"");
    }
}
