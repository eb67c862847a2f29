// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import gatun.server.warmup.HttpConversation.Request;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.v1.InferRequest;
import gatun.wire.v1.InferRequestHeader;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the private server is asked: as much of it as clients are likely to ask, in their proportions. */
final class Requests {
    private static final String V2 = "inference.GRPCInferenceService/";
    private static final String TENSORFLOW = "tensorflow.serving.PredictionService/Predict";
    private static final String V1 = "nvidia.inferenceserver.GRPCService/Infer";
    private static final String JSON = "Content-Type: application/json\r\n";
    private static final int ELEMENTS = 16;
    private static final int MANY = 4096;

    private final String integers;
    private final String texts;

    private final boolean v1;

    /** {@code v1} says whether the server speaks v1. */
    Requests(boolean computed, boolean v1) {
        this.v1 = v1;
        integers = computed ? PrivateModels.COMPUTED_INTEGERS : PrivateModels.INTEGERS;
        texts = computed ? PrivateModels.COMPUTED_TEXTS : PrivateModels.TEXTS;
    }

    /** The kinds of conversations, in an order that mixes them. */
    List<WarmUpConnection.Kind> kinds(SocketAddress http, SocketAddress grpc) {
        List<Request> jsonRequests = json();
        WarmUpConnection.Kind json = () -> HttpConversation.begin(http, jsonRequests);
        List<Request> binaryRequests = binary();
        WarmUpConnection.Kind binary = () -> HttpConversation.begin(http, binaryRequests);
        List<Request> othersRequests = others();
        WarmUpConnection.Kind others = () -> HttpConversation.begin(http, othersRequests);
        ModelInferRequest request = inferRequest(integers);
        WarmUpConnection.Kind unary = () -> GrpcConversation.begin(grpc, V2 + "ModelInfer", request, false);
        WarmUpConnection.Kind stream = () -> GrpcConversation.begin(grpc, V2 + "ModelStreamInfer", request, true);
        PredictRequest predict = predictRequest(integers);
        WarmUpConnection.Kind tensorFlow = () -> GrpcConversation.begin(grpc, TENSORFLOW, predict, false);
        List<WarmUpConnection.Kind> kinds =
                new ArrayList<>(List.of(json, unary, binary, json, stream, json, unary, others, json, tensorFlow));
        if (v1) {
            List<Request> legacyRequests = legacy();
            kinds.add(() -> HttpConversation.begin(http, legacyRequests));
            InferRequest legacy = legacyRequest(integers);
            kinds.add(() -> GrpcConversation.begin(grpc, V1, legacy, false));
        }
        return kinds;
    }

    /** What a server answers with 200 if it speaks v1. */
    static Request legacyHealth() {
        return HttpConversation.get("/api/health/live");
    }

    private List<Request> legacy() {
        String header = IntStream.range(0, 2)
                .mapToObj(i -> " input { name: \"INPUT" + i + "\" } output { name: \"OUTPUT" + i + "\" }")
                .collect(Collectors.joining("", "NV-InferRequest: batch_size: 1", "\r\n"));
        ByteBuffer data = ByteBuffer.allocate(2 * ELEMENTS * Integer.BYTES)
                .put(elements(ELEMENTS))
                .put(elements(ELEMENTS));
        Request infer = HttpConversation.post("/api/infer/" + integers, header, data.array());
        return List.of(infer, infer, infer, legacyHealth(), HttpConversation.get("/api/health/ready"));
    }

    private List<Request> json() {
        List<Request> requests = new ArrayList<>();
        String numbers = inputs("INT32", numbers(ELEMENTS));
        for (int i = 0; i < 4; i++) {
            requests.add(infer(integers, JSON, numbers));
            requests.add(infer(integers, JSON, spaced(numbers)));
        }
        requests.add(infer(texts, JSON, inputs("BYTES", strings())));
        requests.add(infer(PrivateModels.INTEGERS, JSON, inputs("INT32", numbers(ELEMENTS))));
        requests.add(infer(PrivateModels.FLOATS, "User-Agent: gatun\r\nAccept: */*\r\n" + JSON, floats(64)));
        return requests;
    }

    private List<Request> binary() {
        return List.of(
                binary(integers), binary(integers), binary(integers), binary(PrivateModels.INTEGERS), manyFloats());
    }

    private List<Request> others() {
        String rows = "{\"instances\":[{\"INPUT0\":" + numbers(ELEMENTS) + ",\"INPUT1\":" + numbers(ELEMENTS) + "}]}";
        String path = "/v1/models/" + integers + ":predict";
        Request predict = HttpConversation.post(path, JSON, rows.getBytes(UTF_8));
        Request spacedPredict = HttpConversation.post(path, JSON, spaced(rows).getBytes(UTF_8));
        return List.of(
                predict,
                spacedPredict,
                predict,
                spacedPredict,
                HttpConversation.get("/v2/health/ready"),
                HttpConversation.get("/v2/models/" + integers),
                refused(404, infer("unknown", JSON, inputs("INT32", numbers(ELEMENTS)))),
                refused(400, infer(integers, JSON, "{\"inputs\":[}")),
                infer(PrivateModels.FLOATS, JSON, floats(512)));
    }

    private static Request refused(int status, Request request) {
        return new Request(request.bytes(), status);
    }

    private static Request infer(String model, String fields, String body) {
        return HttpConversation.post("/v2/models/" + model + "/infer", fields, body.getBytes(UTF_8));
    }

    private static String inputs(String datatype, String data) {
        return IntStream.range(0, 2)
                .mapToObj(i -> "{\"name\":\"INPUT" + i + "\",\"shape\":[1,16],\"datatype\":\"" + datatype
                        + "\",\"data\":" + data + "}")
                .collect(Collectors.joining(",", "{\"inputs\":[", "]}"));
    }

    /** {@code json} as Python's clients write it; there are no commas and colons within its strings. */
    private static String spaced(String json) {
        return json.replace(",", ", ").replace(":", ": ");
    }

    private static String floats(int count) {
        return "{\"id\":\"1\",\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1," + count
                + "],\"datatype\":\"FP32\",\"data\":"
                + IntStream.range(0, count)
                        .mapToObj(i -> Float.toString(i * 0.37f))
                        .collect(Collectors.joining(",", "[", "]"))
                + "}],\"outputs\":[{\"name\":\"OUTPUT0\"}]}";
    }

    private static String numbers(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
    }

    private static String strings() {
        return IntStream.range(0, ELEMENTS)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining("\",\"", "[\"", "\"]"));
    }

    private static Request binary(String model) {
        String input = "{\"name\":\"INPUT%d\",\"datatype\":\"INT32\",\"shape\":[1,16],"
                + "\"parameters\":{\"binary_data_size\":64}}";
        return binary(
                model,
                "{\"inputs\":[" + input.formatted(0) + "," + input.formatted(1)
                        + "],\"parameters\":{\"binary_data_output\":true}}",
                2 * ELEMENTS);
    }

    private static Request manyFloats() {
        return binary(
                PrivateModels.FLOATS,
                "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1," + MANY
                        + "],\"parameters\":{\"binary_data_size\":" + MANY * Float.BYTES
                        + "}}],\"outputs\":[{\"name\":\"OUTPUT0\",\"parameters\":{\"binary_data\":true}}]}",
                MANY);
    }

    private static Request binary(String model, String header, int elements) {
        ByteBuffer body = ByteBuffer.allocate(header.length() + elements * Integer.BYTES)
                .put(header.getBytes(UTF_8))
                .put(elements(elements));
        String fields = "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " + header.length()
                + "\r\n";
        return HttpConversation.post("/v2/models/" + model + "/infer", fields, body.array());
    }

    private static ByteBuffer elements(int count) {
        ByteBuffer elements = ByteBuffer.allocate(count * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            elements.putInt(i);
        }
        return elements.flip();
    }

    private static ModelInferRequest inferRequest(String model) {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName(model);
        for (int i = 0; i < 2; i++) {
            request.addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                            .setName("INPUT" + i)
                            .setDatatype("INT32")
                            .addShape(1)
                            .addShape(ELEMENTS))
                    .addRawInputContents(ByteString.copyFrom(elements(ELEMENTS)));
        }
        return request.build();
    }

    private static PredictRequest predictRequest(String model) {
        TensorProto tensor = TensorProto.newBuilder()
                .setDtype(DataType.DT_INT32)
                .setTensorShape(TensorShapeProto.newBuilder()
                        .addDim(TensorShapeProto.Dim.newBuilder().setSize(1))
                        .addDim(TensorShapeProto.Dim.newBuilder().setSize(ELEMENTS)))
                .setTensorContent(ByteString.copyFrom(elements(ELEMENTS)))
                .build();
        return PredictRequest.newBuilder()
                .setModelSpec(ModelSpec.newBuilder().setName(model))
                .putInputs("INPUT0", tensor)
                .putInputs("INPUT1", tensor)
                .build();
    }

    private static InferRequest legacyRequest(String model) {
        InferRequestHeader.Builder header = InferRequestHeader.newBuilder().setBatchSize(1);
        InferRequest.Builder request =
                InferRequest.newBuilder().setModelName(model).setModelVersion(-1);
        for (int i = 0; i < 2; i++) {
            header.addInput(InferRequestHeader.Input.newBuilder().setName("INPUT" + i))
                    .addOutput(InferRequestHeader.Output.newBuilder().setName("OUTPUT" + i));
            request.addRawInput(ByteString.copyFrom(elements(ELEMENTS)));
        }
        return request.setMetaData(header).build();
    }
}
