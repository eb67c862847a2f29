// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.gpu.CudaClient;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.it.v1.V1Client.Response;
import gatun.it.v1.V1Header.Window;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Memory of GPUs by the legacy v1 API: a client in another process owns it, and clients that know only v1's tables use
 * it.
 */
@Timeout(120)
class V1CudaMemoryIT {
    private static final String PATH = "/api/sharedmemorycontrol/";

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(
            () -> ServerProcess.launch(ServerProcess.exampleModels(), CudaClient.environment(), "--allow-client-shm"));

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    @AfterEach
    void shouldHaveLeftNothing() {
        assertThat(http.post(PATH + "unregisterall", "").statusCode()).isEqualTo(200);
        assertThat(regions()).isEmpty();
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
    }

    enum Transport {
        HTTP {
            @Override
            String register(String region, byte[] handle, long byteSize, long device) {
                HttpResponse<String> response = http.send(
                        HttpRequest.newBuilder(
                                        http.uri(PATH + "cudaregister/" + region + "/" + byteSize + "/" + device))
                                .POST(HttpRequest.BodyPublishers.ofByteArray(handle)),
                        HttpResponse.BodyHandlers.ofString());
                assertThat(response.body()).isEmpty();
                String status = V1Client.Http.status(response).replace("\\'", "'");
                assertThat(status.startsWith("code: SUCCESS ")).as(status).isEqualTo(response.statusCode() == 200);
                return status;
            }
        },
        GRPC {
            @Override
            String register(String region, byte[] handle, long byteSize, long device) {
                V1Message register = new V1Message()
                        .text(1, region)
                        .message(3, new V1Message().bytes(1, handle).number(2, device))
                        .number(4, byteSize);
                V1Message status = new V1Client.Grpc(grpc.channel())
                        .call("SharedMemoryControl", new V1Message().message(1, register))
                        .message(1);
                return "code: " + V1Client.CODES.get((int) status.number(1)) + " msg: \"" + status.text(2) + "\"";
            }
        };

        /** Registers memory of a GPU, and returns the outcome as one line. */
        abstract String register(String region, byte[] handle, long byteSize, long device);

        V1Client client() {
            return this == HTTP ? new V1Client.Http(http) : new V1Client.Grpc(grpc.channel());
        }
    }

    private static List<V1Message> regions() {
        HttpResponse<byte[]> response = http.send(
                HttpRequest.newBuilder(http.uri(PATH + "status?format=binary")),
                HttpResponse.BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).isEqualTo(200);
        return V1Message.parse(response.body()).messages(2);
    }

    @ParameterizedTest
    @EnumSource
    void shouldInferFromAndIntoTheMemoryOfAnotherProcess(Transport transport) throws Exception {
        try (CudaClient client = CudaClient.launch(0, 256)) {
            client.write(0, SimpleModel.bytes(SimpleModel.LEFT));
            client.write(64, SimpleModel.bytes(SimpleModel.RIGHT));
            assertThat(transport.register("g", client.handle(), 256, 0)).startsWith("code: SUCCESS ");
            Response answer = transport
                    .client()
                    .infer(
                            "simple",
                            V1Client.LATEST,
                            V1Header.batch(1)
                                    .input("INPUT0", new Window("g", 0, 64))
                                    .input("INPUT1", new Window("g", 64, 64), 16)
                                    .output("OUTPUT1", new Window("g", 192, 64))
                                    .output("OUTPUT0", new Window("g", 128, 64)))
                    .succeeded();
            assertThat(answer.header().messages(4))
                    .extracting(output -> output.text(1))
                    .containsExactly("OUTPUT1", "OUTPUT0");
            assertThat(answer.raw()).allSatisfy(bytes -> assertThat(bytes).isEmpty());
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(128, 64))))
                    .isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(192, 64))))
                    .isEqualTo(SimpleModel.DIFFERENCE);

            assertThat(http.post(PATH + "unregister/g", "").statusCode()).isEqualTo(200);
            Response gone = transport
                    .client()
                    .infer(
                            "simple",
                            V1Client.LATEST,
                            V1Header.batch(1)
                                    .input("INPUT0", new Window("g", 0, 64))
                                    .input("INPUT1", new Window("g", 64, 64)));
            assertThat(gone.code()).isEqualTo("NOT_FOUND");
            assertThat(gone.text()).isEqualTo("Unable to find shared memory region: 'g'");
        }
    }

    @Test
    void shouldListMemoryOfBothKinds() throws Exception {
        try (CudaClient client = CudaClient.launch(1, 4096);
                SharedObject object = SharedObject.create(4096)) {
            assertThat(Transport.HTTP.register("g", client.handle(), 4096, 1)).startsWith("code: SUCCESS ");
            assertThat(http.post(PATH + "register/s/" + object.key() + "/0/64", "")
                            .statusCode())
                    .isEqualTo(200);
            List<V1Message> listed = regions();
            assertThat(listed).extracting(region -> region.text(1)).containsExactly("g", "s");
            V1Message cuda = listed.getFirst();
            assertThat(cuda.has(2)).as("a system region's part").isFalse();
            assertThat(cuda.message(3).number(1)).as("device").isEqualTo(1);
            assertThat(cuda.number(5)).as("size").isEqualTo(4096);
            assertThat(listed.getLast().has(3)).as("a CUDA region's part").isFalse();
            assertThat(http.get(PATH + "status").body()).contains("cuda_shared_memory {\n    device_id: 1\n  }\n");
            V1Message status = new V1Client.Grpc(grpc.channel())
                    .call("SharedMemoryControl", new V1Message().message(4, new V1Message()));
            assertThat(status.message(2).messages(1))
                    .extracting(region -> region.message(3).number(1))
                    .containsExactly(1L, 0L);
            assertThat(http.post(PATH + "unregister/g", "").statusCode()).isEqualTo(200);
            assertThat(regions()).extracting(region -> region.text(1)).containsExactly("s");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhyMemoryIsNotRegistered(Transport transport) throws Exception {
        String prefix = "code: INVALID_ARG msg: \"failed to register shared memory region: invalid args: ";
        try (CudaClient client = CudaClient.launch(0, 64)) {
            byte[] handle = client.handle();
            assertThat(transport.register("g", handle, 64, 100)).startsWith(prefix + "region 'g' is to be on GPU 100");
            assertThat(transport.register("g", handle, 0, 0)).startsWith(prefix + "region 'g' is to have 0 bytes");
            assertThat(transport.register("g", handle, 1L << 40, 0))
                    .startsWith(prefix + "region 'g' is to have 1099511627776 bytes, expected at most the ");
            assertThat(transport.register("g", new byte[0], 64, 0))
                    .startsWith(prefix + "the handle of region 'g' has 0 bytes, expected the 64");
            assertThat(regions()).isEmpty();
            assertThat(transport.register("g", handle, 64, 0)).startsWith("code: SUCCESS ");
            assertThat(transport.register("g", handle, 64, 0))
                    .startsWith("code: ALREADY_EXISTS msg: \"shared memory region 'g' already in manager\"");
        }
        assertThat(http.post(PATH + "unregisterall", "").statusCode()).isEqualTo(200);
        assertThat(transport.register("g", CudaClient.handleOfTheDead(64), 64, 0))
                .startsWith(prefix + "CUDA cannot open the handle");
        assertThat(Transport.HTTP.register("g", new byte[2000], 64, 0))
                .startsWith("code: INVALID_ARG msg: \"a body of 2000 bytes cannot be a handle");
        assertThat(http.post(PATH + "cudaregister/g/64/-1", "").statusCode()).isEqualTo(400);
    }
}
