// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import com.google.protobuf.ByteString;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferRequest;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Requests to the example model {@code simple}, which adds and subtracts sixteen integers, and the values it must
 * answer with.
 */
public final class SimpleModel {
    public static final int[] LEFT = IntStream.rangeClosed(1, 16).toArray();
    public static final int[] RIGHT = IntStream.rangeClosed(101, 116).toArray();
    public static final int[] SUM =
            IntStream.range(0, 16).map(i -> LEFT[i] + RIGHT[i]).toArray();
    public static final int[] DIFFERENCE =
            IntStream.range(0, 16).map(i -> LEFT[i] - RIGHT[i]).toArray();

    private SimpleModel() {}

    /** The request in JSON. */
    public static String json() {
        return """
                {"inputs": [
                  {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16], "data": %s},
                  {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16], "data": %s}]}""".formatted(Arrays.toString(LEFT), Arrays.toString(RIGHT));
    }

    /** The text of an output in a JSON response. */
    public static String jsonData(int[] values) {
        return Arrays.stream(values).mapToObj(Integer::toString).collect(Collectors.joining(",", "\"data\":[", "]"));
    }

    /** The header of the request with binary tensors, which asks for binary outputs. */
    public static String binaryHeader() {
        return """
                {"inputs": [
                  {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16], "parameters": {"binary_data_size": 64}},
                  {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16], "parameters": {"binary_data_size": 64}}],
                 "parameters": {"binary_data_output": true}}""";
    }

    /** The request with binary tensors. */
    public static HttpRequest.Builder binary(URI uri) {
        byte[] header = binaryHeader().getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(header);
        body.writeBytes(bytes(LEFT));
        body.writeBytes(bytes(RIGHT));
        return HttpRequest.newBuilder(uri)
                .header("Inference-Header-Content-Length", Integer.toString(header.length))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()));
    }

    /** The gRPC request with raw contents. */
    public static ModelInferRequest grpc() {
        return ModelInferRequest.newBuilder()
                .setModelName("simple")
                .addInputs(input("INPUT0"))
                .addInputs(input("INPUT1"))
                .addRawInputContents(ByteString.copyFrom(bytes(LEFT)))
                .addRawInputContents(ByteString.copyFrom(bytes(RIGHT)))
                .build();
    }

    /** The gRPC request with typed contents. */
    public static ModelInferRequest grpcTyped() {
        return ModelInferRequest.newBuilder()
                .setModelName("simple")
                .addInputs(input("INPUT0").setContents(contents(LEFT)))
                .addInputs(input("INPUT1").setContents(contents(RIGHT)))
                .build();
    }

    private static ModelInferRequest.InferInputTensor.Builder input(String name) {
        return ModelInferRequest.InferInputTensor.newBuilder()
                .setName(name)
                .setDatatype("INT32")
                .addShape(1)
                .addShape(16);
    }

    private static InferTensorContents contents(int[] values) {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        Arrays.stream(values).forEach(contents::addIntContents);
        return contents.build();
    }

    /** The bytes of a tensor. */
    public static byte[] bytes(int[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        return bytes.array();
    }

    /** The values of a tensor. */
    public static int[] values(ByteBuffer bytes) {
        int[] values = new int[bytes.remaining() / Integer.BYTES];
        bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(values);
        return values;
    }
}
