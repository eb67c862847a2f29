// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import gatun.it.gpu.RegionClient.Refusal;
import gatun.it.gpu.RegionClient.Window;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.it.v1.V1Client;
import gatun.testing.Await;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandInCounts;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients in other processes hand their tensors over in memory of a GPU, to models that compute on the processor. */
@Timeout(120)
class CudaSharedMemoryIT {
    private static final int MIB = 1 << 20;
    private static final int LIMIT_SECONDS = 60;

    @TempDir
    static Path folder;

    private static CudaStandInCounts counts;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(CudaSharedMemoryIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    private static ServerProcess start() throws Exception {
        counts = new CudaStandInCounts(folder.resolve("counts"));
        Map<String, String> environment = new HashMap<>(CudaClient.environment());
        environment.put(CudaStandInCounts.VARIABLE, counts.file().toString());
        return ServerProcess.launch(ServerProcess.exampleModels(), environment, "--allow-client-shm");
    }

    /** After each test nothing is registered or open, no buffer is lent, and the server answers. */
    @AfterEach
    void shouldHaveLeftNothing() {
        Protocol.HTTP.client().unregister("");
        Await.until("regions to be closed", () -> counts.count(CudaStandIn.Count.MAPPINGS) == 0);
        assertThat(Protocol.GRPC.client().status("")).isEmpty();
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
        HttpResponse<String> next = http.post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(next.statusCode()).as(next.body()).isEqualTo(200);
    }

    enum Protocol {
        HTTP,
        GRPC;

        RegionClient client() {
            return this == HTTP ? new RegionClient.Http(http) : new RegionClient.Grpc(grpc);
        }
    }

    /** A model that takes any number of floats: one that Java computes and one that a native engine does. */
    enum Model {
        IDENTITY("identity_fp32", "INPUT0", "OUTPUT0"),
        SOFTMAX("softmax", "scores", "probabilities");

        private final String path;
        private final String input;
        private final String output;

        Model(String path, String input, String output) {
            this.path = path;
            this.input = input;
            this.output = output;
        }

        private List<Long> shape(long elements) {
            return this == IDENTITY ? List.of(elements) : List.of(1L, elements);
        }

        /** Asks with the first half of a region as the input, and the second as the output. */
        Optional<Refusal> infer(Protocol protocol, String region, long byteSize) {
            long half = byteSize / 2;
            return protocol.client()
                    .infer(
                            path,
                            List.of(new Window(input, "FP32", shape(half / Float.BYTES), region, 0, half)),
                            List.of(new Window(output, "FP32", List.of(), region, half, half)));
        }

        float[] expected(float[] values) {
            if (this == IDENTITY) {
                return values;
            }
            double sum = 0;
            for (float value : values) {
                sum += Math.exp(value);
            }
            float[] expected = new float[values.length];
            for (int i = 0; i < values.length; i++) {
                expected[i] = (float) (Math.exp(values[i]) / sum);
            }
            return expected;
        }
    }

    private static byte[] bytes(float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return bytes.array();
    }

    private static float[] floats(byte[] bytes) {
        float[] values = new float[bytes.length / Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        return values;
    }

    @ParameterizedTest
    @CsvSource({"HTTP, IDENTITY", "HTTP, SOFTMAX", "GRPC, IDENTITY", "GRPC, SOFTMAX"})
    void shouldInferFromAndIntoTheMemoryOfAnotherProcess(Protocol protocol, Model model) throws Exception {
        float[] values = {1, 2, 3, 0.5f, -1, 0, 0, 2};
        try (CudaClient client = CudaClient.launch(1, 64)) {
            client.write(0, bytes(values));
            assertThat(protocol.client().register("g", client.handle(), 1, 64)).isEmpty();
            assertThat(model.infer(protocol, "g", 64)).isEmpty();
            float[] expected = model.expected(values);
            float[] answered = floats(client.read(32, 32));
            for (int i = 0; i < expected.length; i++) {
                assertThat(answered[i]).as("element %d", i).isCloseTo(expected[i], within(1e-6f));
            }
            assertThat(floats(client.read(0, 32))).as("the input").isEqualTo(values);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeMemoryOfEitherKindInOneRequest(Protocol protocol) throws Exception {
        try (CudaClient client = CudaClient.launch(0, 128);
                SharedObject object = SharedObject.create(128)) {
            client.write(0, SimpleModel.bytes(SimpleModel.LEFT));
            object.write(0, SimpleModel.bytes(SimpleModel.RIGHT));
            assertThat(protocol.client().register("g", client.handle(), 0, 128)).isEmpty();
            assertThat(http.register("s", object.key(), "0", "128").statusCode())
                    .isEqualTo(200);
            List<Long> shape = List.of(1L, 16L);
            assertThat(protocol.client()
                            .infer(
                                    "simple",
                                    List.of(
                                            new Window("INPUT0", "INT32", shape, "g", 0, 64),
                                            new Window("INPUT1", "INT32", shape, "s", 0, 64)),
                                    List.of(
                                            new Window("OUTPUT0", "INT32", shape, "s", 64, 64),
                                            new Window("OUTPUT1", "INT32", shape, "g", 64, 64))))
                    .isEmpty();
            assertThat(SimpleModel.values(object.read(64, 64))).isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(64, 64)))).isEqualTo(SimpleModel.DIFFERENCE);
            assertThat(http.unregister("s").statusCode()).isEqualTo(200);
            assertThat(http.unregister("g").statusCode()).as("not of that kind").isEqualTo(200);
            assertThat(protocol.client().status("g")).containsExactly("g 0 128");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRunTheStepsOfAnEnsembleOnIt(Protocol protocol) throws Exception {
        try (CudaClient client = CudaClient.launch(0, 256)) {
            client.write(0, SimpleModel.bytes(SimpleModel.LEFT));
            client.write(64, SimpleModel.bytes(SimpleModel.RIGHT));
            assertThat(protocol.client().register("g", client.handle(), 0, 256)).isEmpty();
            List<Long> shape = List.of(1L, 16L);
            assertThat(protocol.client()
                            .infer(
                                    "simple_ensemble",
                                    List.of(
                                            new Window("INPUT0", "INT32", shape, "g", 0, 64),
                                            new Window("INPUT1", "INT32", shape, "g", 64, 64)),
                                    List.of(
                                            new Window("TWICE0", "INT32", shape, "g", 128, 64),
                                            new Window("TWICE1", "INT32", shape, "g", 192, 64))))
                    .isEmpty();
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(128, 64))))
                    .isEqualTo(Arrays.stream(SimpleModel.LEFT).map(i -> 2 * i).toArray());
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(192, 64))))
                    .isEqualTo(Arrays.stream(SimpleModel.RIGHT).map(i -> 2 * i).toArray());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAndWriteStringsThere(Protocol protocol) throws Exception {
        String[] left = new String[16];
        Arrays.fill(left, "40");
        String[] right = new String[16];
        Arrays.fill(right, "2");
        String[] sum = new String[16];
        Arrays.fill(sum, "42");
        byte[] leftBytes = V1Client.strings(left);
        byte[] rightBytes = V1Client.strings(right);
        byte[] sumBytes = V1Client.strings(sum);
        try (CudaClient client = CudaClient.launch(0, 512)) {
            client.write(0, leftBytes);
            client.write(128, rightBytes);
            byte[] rest = new byte[256 - sumBytes.length];
            Arrays.fill(rest, (byte) 9);
            client.write(256 + sumBytes.length, rest);
            assertThat(protocol.client().register("g", client.handle(), 0, 512)).isEmpty();
            List<Long> shape = List.of(1L, 16L);
            assertThat(protocol.client()
                            .infer(
                                    "simple_string",
                                    List.of(
                                            new Window("INPUT0", "BYTES", shape, "g", 0, leftBytes.length),
                                            new Window("INPUT1", "BYTES", shape, "g", 128, rightBytes.length)),
                                    List.of(new Window("OUTPUT0", "BYTES", shape, "g", 256, 256))))
                    .isEmpty();
            assertThat(client.read(256, sumBytes.length)).isEqualTo(sumBytes);
            assertThat(client.read(256 + sumBytes.length, rest.length))
                    .as("what was not written")
                    .isEqualTo(rest);
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP, IDENTITY", "GRPC, SOFTMAX"})
    void shouldUnregisterARegionThatRequestsUse(Protocol protocol, Model model) throws Exception {
        int byteSize = 4 * MIB;
        try (CudaClient client = CudaClient.launch(0, byteSize)) {
            client.write(0, new byte[64]);
            assertThat(protocol.client().register("busy", client.handle(), 0, byteSize))
                    .isEmpty();
            CountDownLatch running = new CountDownLatch(4);
            List<CompletableFuture<Refusal>> users = new ArrayList<>();
            for (int user = 0; user < 4; user++) {
                users.add(CompletableFuture.supplyAsync(
                        () -> {
                            Optional<Refusal> answer = model.infer(protocol, "busy", byteSize);
                            assertThat(answer).isEmpty();
                            running.countDown();
                            while (answer.isEmpty()) {
                                answer = model.infer(protocol, "busy", byteSize);
                            }
                            return answer.get();
                        },
                        task -> Thread.ofVirtual().start(task)));
            }
            assertThat(running.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            protocol.client().unregister("busy");
            for (CompletableFuture<Refusal> user : users) {
                assertThat(user.get(LIMIT_SECONDS, TimeUnit.SECONDS).text())
                        .contains("Unable to find shared memory region: 'busy'");
            }
            assertThat(protocol.client().status("")).isEmpty();
            assertThat(protocol.client().register("busy", client.handle(), 0, byteSize))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGoOnWhenAClientIsKilled(Protocol protocol) throws Exception {
        float[] values = {1, 2, 3, 4, 5, 6, 7, 8};
        try (CudaClient killed = CudaClient.launch(0, 64);
                CudaClient other = CudaClient.launch(0, 64)) {
            killed.write(0, bytes(values));
            assertThat(protocol.client().register("orphan", killed.handle(), 0, 64))
                    .isEmpty();
            assertThat(protocol.client().register("other", other.handle(), 0, 64))
                    .isEmpty();
            killed.kill();
            // Memory that the server has open stays: it is the server's as much as it was the client's.
            assertThat(protocol.client()
                            .infer(
                                    "identity_fp32",
                                    List.of(new Window("INPUT0", "FP32", List.of(8L), "orphan", 0, 32)),
                                    List.of(new Window("OUTPUT0", "FP32", List.of(8L), "other", 32, 32))))
                    .isEmpty();
            assertThat(floats(other.read(32, 32))).isEqualTo(values);
            assertThat(Model.IDENTITY.infer(protocol, "orphan", 64)).isEmpty();
            protocol.client().unregister("orphan");
            assertThat(protocol.client().register("orphan", CudaClient.handleOfTheDead(64), 0, 64))
                    .hasValueSatisfying(refusal -> assertThat(refusal.text())
                            .contains("failed to register shared memory region: invalid args: CUDA cannot open"
                                    + " the handle"));
            assertThat(Model.IDENTITY.infer(protocol, "other", 64)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatIsRegistered(Protocol protocol) throws Exception {
        try (CudaClient first = CudaClient.launch(0, 4096);
                CudaClient second = CudaClient.launch(1, 4096)) {
            assertThat(protocol.client().register("a", first.handle(), 0, 4096)).isEmpty();
            assertThat(protocol.client().register("b", second.handle(), 1, 100)).isEmpty();
            assertThat(protocol.client().register("c", first.handle(), 0, 64))
                    .as("a handle under two names")
                    .isEmpty();
            assertThat(protocol.client().status("")).containsExactly("a 0 4096", "b 1 100", "c 0 64");
            assertThat(protocol.client().status("b")).containsExactly("b 1 100");
            protocol.client().unregister("a");
            protocol.client().unregister("nosuch");
            assertThat(Model.IDENTITY.infer(protocol, "c", 64)).isEmpty();
            assertThat(protocol.client().status("")).containsExactly("b 1 100", "c 0 64");

            assertThat(http.get("/v2/systemsharedmemory/status").body()).isEqualTo("[]");
            String text = "The region named 'b' is registered as CUDA shared memory, not system shared memory";
            HttpResponse<String> response = http.get("/v2/systemsharedmemory/region/b/status");
            assertThat(response.statusCode()).isEqualTo(404);
            assertThat(response.body()).isEqualTo("{\"error\":\"" + text + "\"}");
            assertThatThrownBy(() -> grpc.service()
                            .systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.newBuilder()
                                    .setName("b")
                                    .build()))
                    .isInstanceOf(StatusRuntimeException.class)
                    .hasMessage("NOT_FOUND: " + text);
        }
    }

    @Test
    void shouldNameTheExtension() {
        String names = "\"system_shared_memory\",\"cuda_shared_memory\",\"binary_tensor_data\"";
        assertThat(http.get("/v2").body()).contains(names);
        assertThat(grpc.service()
                        .serverMetadata(ServerMetadataRequest.getDefaultInstance())
                        .getExtensionsList())
                .containsSequence("system_shared_memory", "cuda_shared_memory", "binary_tensor_data");
    }

    @Test
    void shouldTakeHandlesWithTheLineBreaksOfSomeEncoders() throws Exception {
        try (CudaClient client = CudaClient.launch(0, 64)) {
            String base64 = Base64.getMimeEncoder(72, new byte[] {'\n'}).encodeToString(client.handle());
            assertThat(base64).contains("\n");
            HttpResponse<String> response = http.post(
                    "/v2/cudasharedmemory/region/g/register",
                    "{\"raw_handle\":{\"b64\":\"" + base64.replace("\n", "\\n")
                            + "\"},\"device_id\":0,\"byte_size\":64}");
            assertThat(response.body()).isEmpty();
            assertThat(response.statusCode()).isEqualTo(200);
        }
    }
}
