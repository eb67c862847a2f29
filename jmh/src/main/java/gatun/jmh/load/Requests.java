// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.google.protobuf.ByteString;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.BiConsumer;

/** The requests that {@link LoadComparison} sends: one inference of {@code simple} in each form, and large tensors. */
final class Requests {
    private static final int ELEMENTS = 16;
    private static final int TENSOR_BYTES = ELEMENTS * Integer.BYTES;
    private static final String IDENTITY = "identity_fp32";

    private Requests() {}

    static byte[] httpEcho() {
        return HttpExchange.post("/echo", "Content-Type: application/octet-stream\r\n", binaryBody());
    }

    static byte[] httpBinary() {
        return HttpExchange.post(
                "/v2/models/simple/infer",
                "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " + binaryHeader().length
                        + "\r\n",
                binaryBody());
    }

    static byte[] httpJson() {
        return HttpExchange.post("/v2/models/simple/infer", "Content-Type: application/json\r\n", jsonBody());
    }

    /** The bytes of {@link #httpJson} to the echo. */
    static byte[] httpJsonEcho() {
        return HttpExchange.post("/echo", "Content-Type: application/json\r\n", jsonBody());
    }

    private static byte[] jsonBody() {
        String values = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]";
        String body = "{\"inputs\":[" + input("INPUT0", "\"data\":" + values) + ","
                + input("INPUT1", "\"data\":" + values) + "]}";
        return body.getBytes(StandardCharsets.UTF_8);
    }

    /** {@code identity_fp32} on a tensor of so many bytes, as bytes behind the JSON, or the same body to the echo. */
    static byte[] httpLarge(String path, int byteSize) {
        byte[] header = ("{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":["
                        + byteSize / Float.BYTES + "],\"parameters\":{\"binary_data_size\":" + byteSize
                        + "}}],\"parameters\":{\"binary_data_output\":true}}")
                .getBytes(StandardCharsets.UTF_8);
        return HttpExchange.post(
                path,
                "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " + header.length + "\r\n",
                Arrays.copyOf(header, header.length + byteSize));
    }

    /** {@code identity_fp32} on a tensor of so many bytes in the message. */
    static byte[] grpcLarge(int byteSize) {
        return grpcLarge(IDENTITY, byteSize);
    }

    /** As {@link #grpcLarge(int)}, for another model with such tensors. */
    static byte[] grpcLarge(String model, int byteSize) {
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .addInputs(grpcInput("INPUT0", "FP32", byteSize / Float.BYTES))
                .addRawInputContents(ByteString.copyFrom(new byte[byteSize]))
                .build()
                .toByteArray();
    }

    private static String input(String name, String data) {
        return "{\"name\":\"" + name + "\",\"datatype\":\"INT32\",\"shape\":[1," + ELEMENTS + "]," + data + "}";
    }

    private static byte[] binaryHeader() {
        String size = "\"parameters\":{\"binary_data_size\":" + TENSOR_BYTES + "}";
        String header = "{\"inputs\":[" + input("INPUT0", size) + "," + input("INPUT1", size)
                + "],\"parameters\":{\"binary_data_output\":true}}";
        return header.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] binaryBody() {
        byte[] header = binaryHeader();
        byte[] tensor = tensor();
        return ByteBuffer.allocate(header.length + 2 * tensor.length)
                .put(header)
                .put(tensor)
                .put(tensor)
                .array();
    }

    private static byte[] tensor() {
        ByteBuffer bytes = ByteBuffer.allocate(TENSOR_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < ELEMENTS; i++) {
            bytes.putInt(i);
        }
        return bytes.array();
    }

    static byte[] grpc() {
        ByteString tensor = ByteString.copyFrom(tensor());
        return ModelInferRequest.newBuilder()
                .setModelName("simple")
                .addInputs(grpcInput("INPUT0", "INT32", 1, ELEMENTS))
                .addInputs(grpcInput("INPUT1", "INT32", 1, ELEMENTS))
                .addRawInputContents(tensor)
                .addRawInputContents(tensor)
                .build()
                .toByteArray();
    }

    /** Both inputs and both outputs in a registered region, one behind the other. */
    static byte[] grpcSharedMemory(String region) {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("simple");
        for (int i = 0; i < 2; i++) {
            ModelInferRequest.InferInputTensor.Builder input = grpcInput("INPUT" + i, "INT32", 1, ELEMENTS);
            window(region, (long) i * TENSOR_BYTES, TENSOR_BYTES, input::putParameters);
            request.addInputs(input);
            ModelInferRequest.InferRequestedOutputTensor.Builder output =
                    ModelInferRequest.InferRequestedOutputTensor.newBuilder().setName("OUTPUT" + i);
            window(region, (long) (i + 2) * TENSOR_BYTES, TENSOR_BYTES, output::putParameters);
            request.addOutputs(output);
        }
        return request.build().toByteArray();
    }

    /** {@code identity_fp32} on {@code byteSize} bytes of a region, into as many behind them. */
    static byte[] grpcIdentity(String region, long byteSize) {
        return grpcRegion(IDENTITY, region, byteSize);
    }

    /** As {@link #grpcIdentity}, for another model with such tensors. */
    static byte[] grpcRegion(String model, String region, long byteSize) {
        ModelInferRequest.InferInputTensor.Builder input = grpcInput("INPUT0", "FP32", byteSize / Float.BYTES);
        window(region, 0, byteSize, input::putParameters);
        ModelInferRequest.InferRequestedOutputTensor.Builder output =
                ModelInferRequest.InferRequestedOutputTensor.newBuilder().setName("OUTPUT0");
        window(region, byteSize, byteSize, output::putParameters);
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .addInputs(input)
                .addOutputs(output)
                .build()
                .toByteArray();
    }

    private static ModelInferRequest.InferInputTensor.Builder grpcInput(String name, String datatype, long... shape) {
        ModelInferRequest.InferInputTensor.Builder input = ModelInferRequest.InferInputTensor.newBuilder()
                .setName(name)
                .setDatatype(datatype.toUpperCase(Locale.ROOT));
        for (long dim : shape) {
            input.addShape(dim);
        }
        return input;
    }

    private static void window(
            String region, long offset, long byteSize, BiConsumer<String, InferParameter> parameters) {
        parameters.accept(
                "shared_memory_region",
                InferParameter.newBuilder().setStringParam(region).build());
        parameters.accept(
                "shared_memory_offset",
                InferParameter.newBuilder().setInt64Param(offset).build());
        parameters.accept(
                "shared_memory_byte_size",
                InferParameter.newBuilder().setInt64Param(byteSize).build());
    }
}
