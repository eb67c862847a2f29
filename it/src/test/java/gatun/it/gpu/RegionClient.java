// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A v2 client that asks for inferences whose tensors lie in registered regions of any kind. */
public interface RegionClient {
    /** A tensor in a region. */
    record Window(String name, String datatype, List<Long> shape, String region, long offset, long byteSize) {}

    /** A refusal: the status and the text. */
    record Refusal(String status, String text) {}

    /** Registers memory of a GPU; returns the refusal, if there is one. */
    Optional<Refusal> register(String region, byte[] handle, long device, long byteSize);

    /** Forgets a region of a GPU; all of them without a name. */
    void unregister(String region);

    /** The status of a region, or of all without a name; each is {@code name device size}. */
    List<String> status(String region);

    /** Asks a model for an inference; returns the refusal, if there is one. */
    Optional<Refusal> infer(String model, List<Window> inputs, List<Window> outputs);

    /** Over HTTP. */
    record Http(HttpApi api) implements RegionClient {
        private static final String ROOT = "/v2/cudasharedmemory";

        private static String path(String region, String action) {
            return region.isEmpty() ? ROOT + "/" + action : ROOT + "/region/" + region + "/" + action;
        }

        @Override
        public Optional<Refusal> register(String region, byte[] handle, long device, long byteSize) {
            return refusal(api.post(
                    path(region, "register"),
                    "{\"raw_handle\": {\"b64\": \"%s\"}, \"device_id\": %d, \"byte_size\": %s}"
                            .formatted(
                                    Base64.getEncoder().encodeToString(handle),
                                    device,
                                    Long.toUnsignedString(byteSize))));
        }

        @Override
        public void unregister(String region) {
            assertThat(api.post(path(region, "unregister"), "").statusCode()).isEqualTo(200);
        }

        @Override
        public List<String> status(String region) {
            HttpResponse<String> response = api.get(path(region, "status"));
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            return Arrays.stream(response.body().split("[\\[\\]{}]"))
                    .filter(part -> part.startsWith("\""))
                    .map(part -> part.replaceAll("\"(name|device_id|byte_size)\":", "")
                            .replace("\"", "")
                            .replace(',', ' '))
                    .toList();
        }

        @Override
        public Optional<Refusal> infer(String model, List<Window> inputs, List<Window> outputs) {
            return refusal(api.post(
                    "/v2/models/" + model + "/infer",
                    "{\"inputs\": " + json(inputs, true) + ", \"outputs\": " + json(outputs, false) + "}"));
        }

        private static String json(List<Window> windows, boolean inputs) {
            return windows.stream()
                    .map(window -> """
                            {"name": "%s", %s"parameters": {"shared_memory_region": "%s",
                               "shared_memory_byte_size": %d, "shared_memory_offset": %d}}""".formatted(
                            window.name,
                            inputs
                                    ? "\"datatype\": \"%s\", \"shape\": %s, ".formatted(window.datatype, window.shape)
                                    : "",
                            window.region,
                            window.byteSize,
                            window.offset))
                    .collect(Collectors.joining(", ", "[", "]"));
        }

        private static Optional<Refusal> refusal(HttpResponse<String> response) {
            return response.statusCode() == 200
                    ? Optional.empty()
                    : Optional.of(new Refusal(Integer.toString(response.statusCode()), response.body()));
        }
    }

    /** Over gRPC. */
    record Grpc(GrpcClient client) implements RegionClient {
        @Override
        public Optional<Refusal> register(String region, byte[] handle, long device, long byteSize) {
            return refusal(() -> client.service()
                    .cudaSharedMemoryRegister(CudaSharedMemoryRegisterRequest.newBuilder()
                            .setName(region)
                            .setRawHandle(ByteString.copyFrom(handle))
                            .setDeviceId(device)
                            .setByteSize(byteSize)
                            .build()));
        }

        @Override
        public void unregister(String region) {
            client.service()
                    .cudaSharedMemoryUnregister(CudaSharedMemoryUnregisterRequest.newBuilder()
                            .setName(region)
                            .build());
        }

        @Override
        public List<String> status(String region) {
            return client
                    .service()
                    .cudaSharedMemoryStatus(CudaSharedMemoryStatusRequest.newBuilder()
                            .setName(region)
                            .build())
                    .getRegionsMap()
                    .values()
                    .stream()
                    .map(status -> status.getName() + " " + status.getDeviceId() + " " + status.getByteSize())
                    .sorted()
                    .toList();
        }

        @Override
        public Optional<Refusal> infer(String model, List<Window> inputs, List<Window> outputs) {
            ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName(model);
            for (Window window : inputs) {
                ModelInferRequest.InferInputTensor.Builder input = request.addInputsBuilder()
                        .setName(window.name)
                        .setDatatype(window.datatype)
                        .putParameters("shared_memory_region", text(window.region))
                        .putParameters("shared_memory_offset", number(window.offset))
                        .putParameters("shared_memory_byte_size", number(window.byteSize));
                window.shape.forEach(input::addShape);
            }
            for (Window window : outputs) {
                request.addOutputsBuilder()
                        .setName(window.name)
                        .putParameters("shared_memory_region", text(window.region))
                        .putParameters("shared_memory_offset", number(window.offset))
                        .putParameters("shared_memory_byte_size", number(window.byteSize));
            }
            return refusal(() -> client.service().modelInfer(request.build()));
        }

        private static InferParameter text(String value) {
            return InferParameter.newBuilder().setStringParam(value).build();
        }

        private static InferParameter number(long value) {
            return InferParameter.newBuilder().setInt64Param(value).build();
        }

        private static Optional<Refusal> refusal(Runnable call) {
            try {
                call.run();
                return Optional.empty();
            } catch (StatusRuntimeException e) {
                Status status = e.getStatus();
                return Optional.of(new Refusal(status.getCode().name(), String.valueOf(status.getDescription())));
            }
        }
    }
}
