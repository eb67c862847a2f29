// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.OtherMachine;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.StreamClient;
import gatun.testing.Python;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients on other machines, or behind a proxy, and the shared memory of a client on this machine: they neither see nor
 * change it, whichever way they ask.
 */
@Timeout(120)
class RemoteClientsIT {
    private static final int BYTE_SIZE = 64;
    private static final String NAME = "mine";
    private static final String ALLOW = "--allow-remote-client-shm=true";

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    private static SharedObject object;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-address=0.0.0.0",
                "--grpc-address=0.0.0.0",
                "--model-control-mode=none");
        http = new HttpApi(server);
        object = SharedObject.create(BYTE_SIZE);
        assertThat(http.register(NAME, object.key(), "0", "" + BYTE_SIZE).statusCode())
                .isEqualTo(200);
    }

    @AfterAll
    static void removeObject() throws Exception {
        object.close();
    }

    /** Whatever was tried, the region is there as it was, and its owner uses it. */
    @AfterEach
    void shouldHaveLeftTheRegionToItsOwner() throws Exception {
        assertThat(http.get("/v2/systemsharedmemory/status").body())
                .isEqualTo(
                        "[{\"name\":\"" + NAME + "\",\"key\":\"" + object.key() + "\",\"offset\":0,\"byte_size\":64}]");
        assertThat(object.read(0, BYTE_SIZE).array()).containsOnly(0);
        assertThat(http.post("/v2/models/identity_fp32/infer", input()).statusCode())
                .isEqualTo(200);
    }

    private static String window() {
        return "\"parameters\":{\"shared_memory_region\":\"" + NAME + "\",\"shared_memory_byte_size\":32}";
    }

    private static String input() {
        return "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[8]," + window() + "}]}";
    }

    private static String output() {
        return "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[8],\"data\":[1,2,3,4,5,6,7,8]}],"
                + "\"outputs\":[{\"name\":\"OUTPUT0\"," + window() + "}]}";
    }

    /** A request of HTTP; without a body, a GET. */
    record Asked(String path, String body) {
        @Override
        public String toString() {
            return path;
        }
    }

    static Stream<Asked> requests() {
        String system = "/v2/systemsharedmemory";
        String cuda = "/v2/cudasharedmemory";
        String register = "{\"key\":\"" + object.key() + "\",\"offset\":0,\"byte_size\":64}";
        String registerCuda = "{\"raw_handle\":{\"b64\":\"" + "A".repeat(88) + "\"},\"device_id\":0,\"byte_size\":64}";
        String infer = "/v2/models/identity_fp32/infer";
        return Stream.of(
                new Asked(system + "/status", ""),
                new Asked(system + "/region/mine/status", ""),
                new Asked(system + "/region/none/status", ""),
                new Asked(system + "/region/other/register", register),
                new Asked(system + "/region/mine/unregister", "{}"),
                new Asked(system + "/region/none/unregister", "{}"),
                new Asked(system + "/unregister", "{}"),
                new Asked(cuda + "/status", ""),
                new Asked(cuda + "/region/other/register", registerCuda),
                new Asked(cuda + "/region/mine/unregister", "{}"),
                new Asked(cuda + "/unregister", "{}"),
                new Asked(infer, input()),
                new Asked(infer, output()),
                new Asked(infer, input().replace(NAME, "none")),
                new Asked("/v2/lanes", "{\"key\":\"/proc/1/fd/3\",\"data_byte_size\":4096}"),
                new Asked("/v2/lanes/1/models/identity_fp32/prepare", "{\"inputs\":[]}"),
                new Asked("/v2/lanes/1/drop", "{\"prepared\":0}"));
    }

    private static HttpRequest.Builder request(Asked asked) {
        HttpRequest.Builder request = HttpRequest.newBuilder(http.uri(asked.path));
        return asked.body.isEmpty() ? request : request.POST(HttpRequest.BodyPublishers.ofString(asked.body));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void shouldRefuseRequestsThatCameThroughAProxy(Asked asked) {
        for (String header : List.of("Forwarded", "x-forwarded-for", "VIA")) {
            HttpResponse<String> response =
                    http.send(request(asked).header(header, "1.1 proxy"), HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode())
                    .as(header + ": " + response.body())
                    .isEqualTo(403);
            assertThat(response.body())
                    .contains(ALLOW)
                    .doesNotContain(object.key())
                    .doesNotContain(NAME);
        }
    }

    @Test
    void shouldRefuseRequestsFromAnotherMachine() throws Exception {
        try (OtherMachine machine = OtherMachine.connect()) {
            for (Asked asked : requests().toList()) {
                String url = "http://" + machine.server() + ":" + server.httpPort() + asked.path;
                String answer = asked.body.isEmpty()
                        ? machine.execute("curl", "-s", "-w", " %{http_code}", url)
                        : machine.execute("curl", "-s", "-w", " %{http_code}", "-d", asked.body, url);
                assertThat(answer)
                        .as(asked.path)
                        .contains(ALLOW)
                        .doesNotContain(NAME)
                        .endsWith(" 403");
            }
        }
    }

    @Test
    void shouldServeOtherMachinesWithoutSharedMemory() throws Exception {
        try (OtherMachine machine = OtherMachine.connect()) {
            String url = "http://" + machine.server() + ":" + server.httpPort() + "/v2/models/identity_fp32/infer";
            String sent = output().replace("," + window(), "");
            assertThat(machine.execute("curl", "-s", "-w", " %{http_code}", "-d", sent, url))
                    .contains("\"data\":[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0]")
                    .endsWith(" 200");
        }
    }

    @Test
    void shouldShowTheConsoleOfAnotherMachineNoRegions() throws Exception {
        String shown = http.get("/v2/console/memory").body();
        assertThat(shown).contains("\"name\":\"mine\"", "\"regionsHidden\":false");
        HttpResponse<String> hidden = http.send(
                HttpRequest.newBuilder(http.uri("/v2/console/memory")).header("Via", "1.1 proxy"),
                HttpResponse.BodyHandlers.ofString());
        assertThat(hidden.body())
                .contains("\"regionsHidden\":true", "\"regions\":[]")
                .doesNotContain(NAME);
    }

    private static ModelInferRequest grpcRequest(boolean ofInput) {
        ModelInferRequest.InferInputTensor.Builder input = ModelInferRequest.InferInputTensor.newBuilder()
                .setName("INPUT0")
                .setDatatype("FP32")
                .addShape(8);
        ModelInferRequest.InferRequestedOutputTensor.Builder output =
                ModelInferRequest.InferRequestedOutputTensor.newBuilder().setName("OUTPUT0");
        InferParameter region = InferParameter.newBuilder().setStringParam(NAME).build();
        InferParameter byteSize = InferParameter.newBuilder().setInt64Param(32).build();
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("identity_fp32");
        if (ofInput) {
            input.putParameters("shared_memory_region", region).putParameters("shared_memory_byte_size", byteSize);
        } else {
            input.getContentsBuilder().addAllFp32Contents(List.of(1f, 2f, 3f, 4f, 5f, 6f, 7f, 8f));
            output.putParameters("shared_memory_region", region).putParameters("shared_memory_byte_size", byteSize);
        }
        return request.addInputs(input).addOutputs(output).build();
    }

    private static List<Consumer<GRPCInferenceServiceBlockingStub>> calls() {
        return List.of(
                grpc -> grpc.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.getDefaultInstance()),
                grpc -> grpc.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.newBuilder()
                        .setName(NAME)
                        .build()),
                grpc -> grpc.systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                        .setName("other")
                        .setKey(object.key())
                        .setByteSize(BYTE_SIZE)
                        .build()),
                grpc -> grpc.systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.getDefaultInstance()),
                grpc -> grpc.systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.newBuilder()
                        .setName(NAME)
                        .build()),
                grpc -> grpc.cudaSharedMemoryStatus(CudaSharedMemoryStatusRequest.getDefaultInstance()),
                grpc -> grpc.cudaSharedMemoryRegister(CudaSharedMemoryRegisterRequest.newBuilder()
                        .setName("other")
                        .setByteSize(BYTE_SIZE)
                        .build()),
                grpc -> grpc.cudaSharedMemoryUnregister(CudaSharedMemoryUnregisterRequest.getDefaultInstance()),
                grpc -> grpc.modelInfer(grpcRequest(true)),
                grpc -> grpc.modelInfer(grpcRequest(false)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"forwarded", "x-forwarded-for", "via"})
    void shouldRefuseCallsThatCameThroughAProxy(String header) throws Exception {
        try (GrpcClient proxied = GrpcClient.tcp(server.grpcPort(), header, "1.1 proxy")) {
            for (Consumer<GRPCInferenceServiceBlockingStub> call : calls()) {
                // Twice: a header block that comes again is read otherwise.
                for (int i = 0; i < 2; i++) {
                    StatusRuntimeException refused =
                            catchThrowableOfType(StatusRuntimeException.class, () -> call.accept(proxied.service()));
                    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
                    assertThat(refused.getStatus().getDescription())
                            .contains(ALLOW)
                            .doesNotContain(NAME);
                }
            }
            StreamClient stream = StreamClient.open(proxied);
            stream.send(grpcRequest(true));
            assertThat(stream.nextMessage().getErrorMessage()).contains(ALLOW);
            stream.send(grpcRequest(false));
            assertThat(stream.nextMessage().getErrorMessage()).contains(ALLOW);
            stream.complete();
        }
    }

    @Test
    void shouldRefuseCallsFromAnotherMachine() throws Exception {
        try (OtherMachine machine = OtherMachine.connect()) {
            String answer = machine.execute(Python.with("grpc"), "-c", """
                    import grpc, sys
                    channel = grpc.insecure_channel(sys.argv[1])
                    for method, message in (("SystemSharedMemoryStatus", b""), ("SystemSharedMemoryUnregister", b"")):
                        try:
                            channel.unary_unary("/inference.GRPCInferenceService/" + method)(message, timeout=20)
                        except grpc.RpcError as e:
                            print(e.code().name)
                    """, machine.server() + ":" + server.grpcPort());
            assertThat(answer).isEqualTo("PERMISSION_DENIED\nPERMISSION_DENIED\n");
        }
    }

    @Test
    void shouldLetOtherMachinesShareMemoryWhereTheOperatorSaysSo() throws Exception {
        try (ServerProcess open = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--allow-client-shm",
                        "--allow-remote-client-shm",
                        "--http-address=0.0.0.0");
                HttpApi local = new HttpApi(open);
                SharedObject shared = SharedObject.create(BYTE_SIZE);
                OtherMachine machine = OtherMachine.connect()) {
            String url = "http://" + machine.server() + ":" + open.httpPort();
            String register = "{\"key\":\"" + shared.key() + "\",\"offset\":0,\"byte_size\":64}";
            machine.execute("curl", "-sf", "-d", register, url + "/v2/systemsharedmemory/region/mine/register");
            machine.execute("curl", "-sf", "-d", output(), url + "/v2/models/identity_fp32/infer");
            assertThat(shared.read(0, 4).array()).containsExactly(0, 0, 0x80, 0x3f);
            assertThat(local.get("/v2/systemsharedmemory/status").body()).contains(shared.key());
            machine.execute("curl", "-sf", "-d", "", url + "/v2/systemsharedmemory/unregister");
            assertThat(local.get("/v2/systemsharedmemory/status").body()).isEqualTo("[]");
        }
    }
}
