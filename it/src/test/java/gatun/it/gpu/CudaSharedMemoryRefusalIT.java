// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.gpu.RegionClient.Refusal;
import gatun.it.gpu.RegionClient.Window;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory of GPUs that cannot be used, over both transports of v2: the errors, and that nothing is changed. */
@Timeout(120)
class CudaSharedMemoryRefusalIT {
    private static final int MIB = 1 << 20;

    private static ServerProcess server;
    private static HttpApi http;
    private static GrpcClient grpc;

    /** The first copy from GPU 1 goes wrong in a way that a GPU does not recover from. */
    @BeforeAll
    static void start() throws Exception {
        Map<String, String> environment = new HashMap<>(CudaClient.environment());
        environment.put("GATUN_STANDIN_FAIL", "cuMemcpyDtoH@1:700:1");
        server = ServerProcess.launch(ServerProcess.exampleModels(), environment, "--allow-client-shm")
                .expectErrors();
        http = new HttpApi(server);
        grpc = GrpcClient.tcp(server.grpcPort());
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            grpc.close();
            http.close();
            server.close();
            assertThat(server.log().lines().filter(line -> line.startsWith("E")))
                    .as("errors in the log")
                    .allMatch(line -> line.contains("GPU 1 (") && line.contains(") has failed: "));
        }
    }

    @AfterEach
    void shouldHaveLeftNothing() {
        Protocol.HTTP.client().unregister("");
        assertThat(Protocol.GRPC.client().status("")).isEmpty();
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
    }

    enum Protocol {
        HTTP,
        GRPC;

        RegionClient client() {
            return this == HTTP ? new RegionClient.Http(http) : new RegionClient.Grpc(grpc);
        }

        /** Has a model copy the first half of a region to the second. */
        Optional<Refusal> infer(String region) {
            return client().infer(
                            "identity_fp32",
                            List.of(new Window("INPUT0", "FP32", List.of(8L), region, 0, 32)),
                            List.of(new Window("OUTPUT0", "FP32", List.of(), region, 32, 32)));
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP, 400, 400", "GRPC, INVALID_ARGUMENT, ALREADY_EXISTS"})
    void shouldRefuseWhatDoesNotFit(Protocol protocol, String invalid, String exists) throws Exception {
        String prefix = "failed to register shared memory region: invalid args: ";
        try (CudaClient client = CudaClient.launch(0, MIB)) {
            byte[] handle = client.handle();
            // The driver does not check each byte of a handle.
            byte[] other = new byte[handle.length];
            assertRefused(protocol.client().register("g", handle, 7, MIB), invalid, prefix, "on GPU 7, expected 0 to ");
            assertRefused(protocol.client().register("g", handle, 0, 0), invalid, prefix, "is to have 0 bytes");
            assertRefused(
                    protocol.client().register("g", handle, 0, -1),
                    invalid,
                    prefix,
                    "is to have 18446744073709551615 bytes, expected at most the ");
            assertRefused(
                    protocol.client().register("g", other, 0, MIB), invalid, prefix, "CUDA cannot open the handle");
            assertThat(protocol.client().status("")).isEmpty();

            assertThat(protocol.client().register("g", handle, 0, MIB)).isEmpty();
            assertRefused(
                    protocol.client().register("g", handle, 0, MIB),
                    exists,
                    "shared memory region 'g' already in manager");
            protocol.client().unregister("");
        }
        try (CudaClient client = CudaClient.launch(0, MIB)) {
            byte[] handle = client.handle();
            client.free();
            assertRefused(
                    protocol.client().register("g", handle, 0, MIB), invalid, prefix, "CUDA cannot open the handle");
        }
    }

    private static void assertRefused(Optional<Refusal> refusal, String status, String... texts) {
        assertThat(refusal).hasValueSatisfying(found -> {
            assertThat(found.status()).as(found.text()).isEqualTo(status);
            assertThat(found.text()).contains(texts);
        });
    }

    @Test
    void shouldRefuseAHandleOfAnotherSizeInEachProtocolsWords() {
        assertRefused(
                Protocol.GRPC.client().register("g", new byte[63], 0, 1),
                "INVALID_ARGUMENT",
                "failed to register shared memory region: invalid args: the handle of region 'g' has 63 bytes");
        assertRefused(
                Protocol.GRPC.client().register("g", new byte[64], -1, 1), "INVALID_ARGUMENT", "is to be on GPU -1");
        assertRefused(
                Protocol.HTTP.client().register("g", new byte[63], 0, 1),
                "400",
                "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "/register | {} | 'region name' is necessary to register cuda shared memory region",
                "/region/g/register | {} | Shared memory register request has no 'raw_handle' field",
                "/region/g/register | {\"raw_handle\":{}} | attempt to access non-existing object member 'b64'",
                "/region/g/register | {\"raw_handle\":\"x\"} | attempt to access JSON non-object",
                "/region/g/register | {\"raw_handle\":{\"b64\":1}} | attempt to access JSON non-string as string",
                "/region/g/register | {\"raw_handle\":{\"b64\":\"AAAA\"}}"
                        + " | Shared memory register request has no 'byte_size' field",
                "/region/g/register | {\"raw_handle\":{\"b64\":\"AAAA\"},\"byte_size\":1}"
                        + " | Shared memory register request has no 'device_id' field",
                "/region/g/register | {\"raw_handle\":{\"b64\":\"AAAA\"},\"byte_size\":1,\"device_id\":0}"
                        + " | 'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t",
                "/region/g/register | {\"raw_handle\":{\"b64\":\"A\"},\"byte_size\":1,\"device_id\":0}"
                        + " | 'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t",
                "/region/g/register | {\"device_id\":-1}"
                        + " | attempt to access JSON non-unsigned-integer as unsigned-integer",
                "/region/g/register | { | failed to parse the request JSON buffer: ",
            })
    void shouldSayWhatARegistrationOverHttpLacks(String path, String json, String text) {
        HttpResponse<String> response = http.post("/v2/cudasharedmemory" + path, json);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains(text);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWindowsThatAreNotInside(Protocol protocol) throws Exception {
        try (CudaClient client = CudaClient.launch(0, 64)) {
            assertThat(protocol.client().register("g", client.handle(), 0, 64)).isEmpty();
            List<Window> output = List.of(new Window("OUTPUT0", "FP32", List.of(), "g", 32, 32));
            assertThat(protocol.client()
                            .infer(
                                    "identity_fp32",
                                    List.of(new Window("INPUT0", "FP32", List.of(8L), "g", 40, 32)),
                                    output))
                    .hasValueSatisfying(refusal -> assertThat(refusal.text())
                            .contains("Invalid offset + byte size for shared memory region: 'g'"));
            assertThat(protocol.client()
                            .infer(
                                    "identity_fp32",
                                    List.of(new Window("INPUT0", "FP32", List.of(4L), "g", 0, 16)),
                                    List.of(new Window("OUTPUT0", "FP32", List.of(), "g", 56, 8))))
                    .hasValueSatisfying(refusal ->
                            assertThat(refusal.text()).contains("should be at least 16 bytes to hold the results"));
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP, 503", "GRPC, UNAVAILABLE"})
    void shouldGoOnWithoutAGpuThatFailed(Protocol protocol, String unavailable) throws Exception {
        assumeThat(Files.exists(Path.of("/dev/nvidiactl")))
                .as("a real GPU does not fail on demand")
                .isFalse();
        try (CudaClient well = CudaClient.launch(0, 64);
                CudaClient failed = CudaClient.launch(1, 64)) {
            well.write(0, new byte[64]);
            assertThat(protocol.client().register("well", well.handle(), 0, 64)).isEmpty();
            Optional<Refusal> registered = protocol.client().register("failed", failed.handle(), 1, 64);
            if (registered.isEmpty()) {
                // The first transport's turn: it fails when it is used, and both names stay until they are
                // unregistered.
                assertRefused(protocol.infer("failed"), unavailable, "GPU 1 has failed (", "restart the server");
                assertThat(protocol.client().status("")).containsExactly("failed 1 64", "well 0 64");
                protocol.client().unregister("failed");
                registered = protocol.client().register("failed", failed.handle(), 1, 64);
            }
            assertRefused(registered, unavailable, "GPU 1 has failed (", "restart the server");
            assertThat(protocol.infer("well")).isEmpty();
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        }
    }
}
