// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceImplBase;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterResponse;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterResponse;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server that speaks the protocol and knows no digits: it keeps the pixels that it was sent and always answers the
 * same. Recognition itself is tested with the real server.
 */
final class FakeServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String JSON_LENGTH = "Inference-Header-Content-Length";

    private final float[] answer;
    private final HttpServer http;
    private final Server grpc;

    /** The pixels of each inference request, in order. */
    final List<float[]> received = new CopyOnWriteArrayList<>();

    /** Registered regions: name and key. */
    final Map<String, String> regions = new ConcurrentHashMap<>();

    FakeServer(float... answer) throws IOException {
        this.answer = answer;
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/v2/models/digits/infer", exchange -> reply(exchange, this::infer));
        http.createContext("/v2/systemsharedmemory/region/", exchange -> reply(exchange, this::region));
        http.start();
        grpc = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(new Rpcs())
                .build()
                .start();
    }

    URI httpUrl() {
        return URI.create("http://localhost:" + http.getAddress().getPort());
    }

    String grpcUrl() {
        return "localhost:" + grpc.getPort();
    }

    /** Goes away, as a server that was killed; may be called more than once. */
    void stop() {
        http.stop(0);
        grpc.shutdownNow();
    }

    @Override
    public void close() {
        stop();
    }

    /** Makes the response for a request path. */
    private interface Handler {
        byte[] answer(HttpExchange exchange, byte[] body) throws IOException;
    }

    private static void reply(HttpExchange exchange, Handler handler) throws IOException {
        try (exchange) {
            int status = 200;
            byte[] body;
            try {
                body = handler.answer(exchange, exchange.getRequestBody().readAllBytes());
            } catch (IllegalArgumentException e) {
                status = 400;
                body = ("{\"error\":\"" + e.getMessage() + "\"}").getBytes(UTF_8);
            }
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private byte[] region(HttpExchange exchange, byte[] body) throws IOException {
        String[] path = exchange.getRequestURI().getPath().split("/", -1);
        String name = path[4];
        if (path[5].equals("register")) {
            regions.put(name, JSON.readTree(body).get("key").asText());
        } else {
            regions.remove(name);
        }
        return new byte[0];
    }

    private byte[] infer(HttpExchange exchange, byte[] body) throws IOException {
        String length = exchange.getRequestHeaders().getFirst(JSON_LENGTH);
        int jsonLength = length == null ? body.length : Integer.parseInt(length);
        JsonNode json = JSON.readTree(body, 0, jsonLength);
        JsonNode input = json.at("/inputs/0");
        JsonNode place = input.path("parameters");
        if (!input.path("shape").toString().equals("[1,1,28,28]")) {
            throw new IllegalArgumentException("unexpected shape for input 'image'");
        }
        if (place.has("shared_memory_region")) {
            JsonNode output = json.at("/outputs/0/parameters");
            inferInPlace(
                    place.get("shared_memory_region").asText(),
                    place.get("shared_memory_offset").asLong(),
                    output.get("shared_memory_offset").asLong());
            return "{\"outputs\":[{\"name\":\"probabilities\"}]}".getBytes(UTF_8);
        }
        if (place.has("binary_data_size")) {
            received.add(FloatBytes.toFloats(ByteBuffer.wrap(
                    body, jsonLength, place.get("binary_data_size").asInt())));
            byte[] header = "{\"outputs\":[{\"name\":\"probabilities\"}]}".getBytes(UTF_8);
            exchange.getResponseHeaders().add(JSON_LENGTH, Integer.toString(header.length));
            byte[] tensor = FloatBytes.of(answer);
            return ByteBuffer.allocate(header.length + tensor.length)
                    .put(header)
                    .put(tensor)
                    .array();
        }
        received.add(JSON.treeToValue(input.get("data"), float[].class));
        return ("{\"outputs\":[{\"name\":\"probabilities\",\"data\":" + JSON.writeValueAsString(answer) + "}]}")
                .getBytes(UTF_8);
    }

    private void inferInPlace(String region, long inputOffset, long outputOffset) throws IOException {
        try (RandomAccessFile object = new RandomAccessFile("/dev/shm" + regions.get(region), "rw")) {
            byte[] pixels = new byte[(int) PictureMemory.INPUT_SIZE];
            object.seek(inputOffset);
            object.readFully(pixels);
            received.add(FloatBytes.toFloats(ByteBuffer.wrap(pixels)));
            object.seek(outputOffset);
            object.write(FloatBytes.of(answer));
        }
    }

    private final class Rpcs extends GRPCInferenceServiceImplBase {
        @Override
        public void modelInfer(ModelInferRequest request, StreamObserver<ModelInferResponse> response) {
            ModelInferResponse.Builder reply = ModelInferResponse.newBuilder();
            if (request.getRawInputContentsCount() == 1) {
                received.add(FloatBytes.toFloats(request.getRawInputContents(0).asReadOnlyByteBuffer()));
                reply.addRawOutputContents(ByteString.copyFrom(FloatBytes.of(answer)));
            } else {
                Map<String, InferParameter> input = request.getInputs(0).getParametersMap();
                Map<String, InferParameter> output = request.getOutputs(0).getParametersMap();
                try {
                    inferInPlace(
                            Objects.requireNonNull(input.get("shared_memory_region"))
                                    .getStringParam(),
                            Objects.requireNonNull(input.get("shared_memory_offset"))
                                    .getInt64Param(),
                            Objects.requireNonNull(output.get("shared_memory_offset"))
                                    .getInt64Param());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            finish(response, reply.build());
        }

        @Override
        public void systemSharedMemoryRegister(
                SystemSharedMemoryRegisterRequest request,
                StreamObserver<SystemSharedMemoryRegisterResponse> response) {
            regions.put(request.getName(), request.getKey());
            finish(response, SystemSharedMemoryRegisterResponse.getDefaultInstance());
        }

        @Override
        public void systemSharedMemoryUnregister(
                SystemSharedMemoryUnregisterRequest request,
                StreamObserver<SystemSharedMemoryUnregisterResponse> response) {
            regions.remove(request.getName());
            finish(response, SystemSharedMemoryUnregisterResponse.getDefaultInstance());
        }

        private static <T> void finish(StreamObserver<T> response, T message) {
            response.onNext(message);
            response.onCompleted();
        }
    }
}
