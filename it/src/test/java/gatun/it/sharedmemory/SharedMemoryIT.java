// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.bindings.Posix;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.it.v1.V1Client;
import gatun.it.v1.V1Header;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A client may do anything to its shared memory: the server answers with an error, and goes on. */
class SharedMemoryIT {
    private static final int MIB = 1 << 20;
    private static final int NOBODY = 65534;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples("--allow-client-shm");

    private static final HttpApi http = server.http();

    /** After each test nothing is registered, no buffer is lent, and the server answers. */
    @AfterEach
    void shouldHaveLeftNothing() {
        assertThat(http.post("/v2/systemsharedmemory/unregister", "").statusCode())
                .isEqualTo(200);
        assertThat(http.get("/v2/systemsharedmemory/status").body()).isEqualTo("[]");
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
        HttpResponse<String> next = http.post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(next.statusCode()).as(next.body()).isEqualTo(200);
        assertThat(server.process().handle().isAlive()).isTrue();
    }

    /** A model that takes any number of floats: one that Java computes and one that a native engine does. */
    enum Model {
        IDENTITY("identity_fp32", "INPUT0", "OUTPUT0", ""),
        SOFTMAX("softmax", "scores", "probabilities", "1, ");

        private final String path;
        private final String input;
        private final String output;
        private final String shapePrefix;

        Model(String name, String input, String output, String shapePrefix) {
            this.path = "/v2/models/" + name + "/infer";
            this.input = input;
            this.output = output;
            this.shapePrefix = shapePrefix;
        }

        /** Asks with the first half of a region as the input, and the second as the output. */
        HttpResponse<String> infer(String region, int byteSize) {
            int half = byteSize / 2;
            return http.post(path, """
                    {"inputs": [{"name": "%s", "datatype": "FP32", "shape": [%s%d],
                       "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": %d}}],
                     "outputs": [{"name": "%s",
                       "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": %d,
                                      "shared_memory_offset": %d}}]}""".formatted(
                            input, shapePrefix, half / Float.BYTES, region, half, output, region, half, half));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseARequestWhoseRegionWasTruncatedBefore(Model model) throws Exception {
        try (SharedObject object = SharedObject.create(MIB)) {
            assertThat(http.register("cut", object.key(), "0", "" + MIB).statusCode())
                    .isEqualTo(200);
            assertThat(model.infer("cut", MIB).statusCode()).isEqualTo(200);
            object.resize(0);
            HttpResponse<String> response = model.infer("cut", MIB);
            assertThat(response.statusCode()).as(response.body()).isBetween(400, 499);
            assertThat(response.body()).contains("cut");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSurviveARegionThatIsTruncatedDuringInference(Model model) throws Exception {
        SplittableRandom random = new SplittableRandom(42);
        int byteSize = 8 * MIB;
        List<Integer> statuses = new ArrayList<>();
        for (int round = 0; round < 12; round++) {
            String name = "during" + round;
            try (SharedObject object = SharedObject.create(byteSize)) {
                assertThat(http.register(name, object.key(), "0", "" + byteSize).statusCode())
                        .isEqualTo(200);
                AtomicBoolean cut = new AtomicBoolean();
                CompletableFuture<Integer> inference = CompletableFuture.supplyAsync(() -> {
                    int status;
                    do {
                        status = model.infer(name, byteSize).statusCode();
                    } while (status == 200 && !cut.get());
                    return status;
                });
                LockSupport.parkNanos(random.nextLong(5_000_000)); // it is cut at any instant of a request
                object.resize(random.nextInt(byteSize));
                cut.set(true);
                statuses.add(inference.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
                assertThat(http.unregister(name).statusCode()).isEqualTo(200);
            }
        }
        assertThat(statuses).allMatch(status -> status == 200 || (status >= 400 && status < 500));
        assertThat(statuses).anyMatch(status -> status >= 400);
    }

    @ParameterizedTest
    @EnumSource
    void shouldUnregisterARegionThatEightRequestsUse(Model model) throws Exception {
        int byteSize = 4 * MIB;
        try (SharedObject object = SharedObject.create(byteSize)) {
            assertThat(http.register("busy", object.key(), "0", "" + byteSize).statusCode())
                    .isEqualTo(200);
            CountDownLatch running = new CountDownLatch(8);
            List<CompletableFuture<HttpResponse<String>>> users = new ArrayList<>();
            for (int user = 0; user < 8; user++) {
                users.add(CompletableFuture.supplyAsync(
                        () -> {
                            HttpResponse<String> response = model.infer("busy", byteSize);
                            assertThat(response.statusCode()).isEqualTo(200);
                            running.countDown();
                            while (response.statusCode() == 200) {
                                response = model.infer("busy", byteSize);
                            }
                            return response;
                        },
                        task -> Thread.ofVirtual().start(task)));
            }
            assertThat(running.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(http.unregister("busy").statusCode()).isEqualTo(200);
            for (CompletableFuture<HttpResponse<String>> user : users) {
                HttpResponse<String> last = user.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
                assertThat(last.statusCode()).as(last.body()).isBetween(400, 499);
                assertThat(last.body()).contains("busy");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        // more than the object holds, in every way that could overflow
        "0, 4097",
        "1, 4096",
        "4096, 1",
        "9223372036854775807, 1",
        "9223372036854775807, 9223372036854775807",
        "1, 18446744073709551615",
        "18446744073709551615, 1",
        "18446744073709551615, 18446744073709551615",
    })
    void shouldRefuseARangeBeyondTheObject(String offset, String byteSize) throws Exception {
        try (SharedObject object = SharedObject.create(4096)) {
            HttpResponse<String> response = http.register("beyond", object.key(), offset, byteSize);
            assertThat(response.statusCode()).as(response.body()).isBetween(400, 499);
            assertThat(response.body()).startsWith("{\"error\":");
        }
    }

    @ParameterizedTest
    @CsvSource({"/../etc/passwd", "/a/b", "/..", "/", "''", "/etc/passwd", "/proc/1/fd/0", "/proc/self/fd/1"})
    void shouldRefuseAKeyThatClimbs(String key) {
        HttpResponse<String> response = http.register("climbs", key, "0", "64");
        assertThat(response.statusCode()).as(response.body()).isBetween(400, 500);
    }

    @Test
    void shouldKeepTheRegionOfAClientThatWasKilled() throws Exception {
        Path object;
        try (ChildJvm client = ChildJvm.launch(RegionExporter.class)) {
            String key = client.awaitLine("exported", LIMIT);
            object = Path.of("/dev/shm" + key);
            assertThat(http.register("orphan", key, "0", "256").statusCode()).isEqualTo(200);
            client.kill();
            assertThat(object).exists();
            HttpResponse<String> response = Model.IDENTITY.infer("orphan", 256);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        }
        assertThat(object).doesNotExist();
    }

    /** An input in the first 64 bytes of a region, whose copy is to begin in its middle. */
    @Test
    void shouldRefuseAnOutputOverAnInputInEveryProtocol() throws Exception {
        try (SharedObject object = SharedObject.create(256);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(http.register("over", object.key(), "0", "256").statusCode())
                    .isEqualTo(200);
            byte[] before = new byte[256];
            new SplittableRandom(18).nextBytes(before);
            object.write(0, before);
            String reason = "output 'OUTPUT0' in shared memory region 'over' overlaps input 'INPUT0' in region 'over'";

            ModelInferRequest request = ModelInferRequest.newBuilder()
                    .setModelName("identity_fp32")
                    .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                            .setName("INPUT0")
                            .setDatatype("FP32")
                            .addShape(16)
                            .putParameters("shared_memory_region", text("over"))
                            .putParameters("shared_memory_byte_size", number(64)))
                    .addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                            .setName("OUTPUT0")
                            .putParameters("shared_memory_region", text("over"))
                            .putParameters("shared_memory_byte_size", number(64))
                            .putParameters("shared_memory_offset", number(32)))
                    .build();
            assertThatExceptionOfType(StatusRuntimeException.class)
                    .isThrownBy(() -> grpc.service().modelInfer(request))
                    .withMessageContaining("INVALID_ARGUMENT")
                    .withMessageContaining(reason);
            for (V1Client client : List.of(new V1Client.Http(http), new V1Client.Grpc(grpc.channel()))) {
                V1Client.Response answer = client.infer(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(1)
                                .input("INPUT0", new V1Header.Window("over", 0, 64), 16)
                                .output("OUTPUT0", new V1Header.Window("over", 32, 64)));
                assertThat(answer.code()).as(answer.text()).isEqualTo("INVALID_ARG");
                assertThat(answer.text()).contains(reason);
            }
            assertThat(object.read(0, before.length).array()).isEqualTo(before);
        }
    }

    private static InferParameter text(String value) {
        return InferParameter.newBuilder().setStringParam(value).build();
    }

    private static InferParameter number(long value) {
        return InferParameter.newBuilder().setInt64Param(value).build();
    }

    /** The server may run as root, who opens everything: what counts is what the owner lets others do. */
    @Test
    void shouldNotOpenWhatAnotherUserSharesWithNobody() throws Exception {
        assumeTrue(Posix.effectiveUid() == 0, "only root may give an object to another user");
        try (SharedObject object = SharedObject.create(256)) {
            Path file = Path.of("/dev/shm" + object.key());
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            Files.setAttribute(file, "unix:uid", NOBODY);

            HttpResponse<String> refused = http.register("theirs", object.key(), "0", "256");
            assertThat(refused.statusCode()).isEqualTo(500);
            assertThat(refused.body()).contains("Unable to open shared memory region: '" + object.key() + "'");

            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
            assertThat(http.register("theirs", object.key(), "0", "256").statusCode())
                    .isEqualTo(200);
            assertThat(Model.IDENTITY.infer("theirs", 256).statusCode()).isEqualTo(200);
        }
    }
}
