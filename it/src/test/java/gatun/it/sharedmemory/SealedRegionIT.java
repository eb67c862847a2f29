// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.it.harness.ChildJvm;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.SimpleModel;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory behind a descriptor of another process: used in place when it is sealed, and refused when it is not. */
@Timeout(120)
class SealedRegionIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long HALF = MemfdClient.BYTE_SIZE / 2;

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples("--allow-client-shm");

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    /** After each test nothing is registered, no buffer is lent, and the server answers. */
    @AfterEach
    void shouldHaveLeftNothing() {
        assertThat(http.post("/v2/systemsharedmemory/unregister", "").statusCode())
                .isEqualTo(200);
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
        HttpResponse<String> next = http.post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(next.statusCode()).as(next.body()).isEqualTo(200);
    }

    /** How a client asks. */
    enum Protocol {
        HTTP {
            @Override
            Optional<String> refusal(String region, String key) {
                return refusal(http.register(region, key, "0", "" + MemfdClient.BYTE_SIZE));
            }

            @Override
            void unregister(String region) {
                assertThat(http.unregister(region).statusCode()).isEqualTo(200);
            }

            @Override
            boolean knows(String region) {
                return http.get("/v2/systemsharedmemory/status").body().contains('"' + region + '"');
            }

            @Override
            Optional<String> inferenceRefusal(String from, String to) {
                return refusal(http.post("/v2/models/identity_fp32/infer", """
                        {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [%d],
                           "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": %d}}],
                         "outputs": [{"name": "OUTPUT0",
                           "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": %d,
                                          "shared_memory_offset": %d}}]}""".formatted(
                                HALF / Float.BYTES, from, HALF, to, HALF, HALF)));
            }

            private Optional<String> refusal(HttpResponse<String> response) {
                if (response.statusCode() == 200) {
                    return Optional.empty();
                }
                assertThat(response.statusCode()).as(response.body()).isBetween(400, 500);
                return Optional.of(response.body());
            }
        },
        GRPC {
            @Override
            Optional<String> refusal(String region, String key) {
                return refusal(() -> grpc.service()
                        .systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                                .setName(region)
                                .setKey(key)
                                .setByteSize(MemfdClient.BYTE_SIZE)
                                .build()));
            }

            @Override
            void unregister(String region) {
                grpc.service()
                        .systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.newBuilder()
                                .setName(region)
                                .build());
            }

            @Override
            boolean knows(String region) {
                return grpc.service()
                        .systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.getDefaultInstance())
                        .containsRegions(region);
            }

            @Override
            Optional<String> inferenceRefusal(String from, String to) {
                ModelInferRequest request = ModelInferRequest.newBuilder()
                        .setModelName("identity_fp32")
                        .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                                .setName("INPUT0")
                                .setDatatype("FP32")
                                .addShape(HALF / Float.BYTES)
                                .putParameters("shared_memory_region", text(from))
                                .putParameters("shared_memory_byte_size", number(HALF)))
                        .addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                                .setName("OUTPUT0")
                                .putParameters("shared_memory_region", text(to))
                                .putParameters("shared_memory_byte_size", number(HALF))
                                .putParameters("shared_memory_offset", number(HALF)))
                        .build();
                return refusal(() -> grpc.service().modelInfer(request));
            }

            private InferParameter text(String value) {
                return InferParameter.newBuilder().setStringParam(value).build();
            }

            private InferParameter number(long value) {
                return InferParameter.newBuilder().setInt64Param(value).build();
            }

            private Optional<String> refusal(Runnable call) {
                try {
                    call.run();
                    return Optional.empty();
                } catch (StatusRuntimeException e) {
                    assertThat(e.getStatus().getCode())
                            .as(e.getMessage())
                            .isIn(Status.Code.INVALID_ARGUMENT, Status.Code.NOT_FOUND, Status.Code.INTERNAL);
                    return Optional.of(String.valueOf(e.getStatus().getDescription()));
                }
            }
        };

        /** Registers all of a client's memory, and returns why not. */
        abstract Optional<String> refusal(String region, String key);

        abstract void unregister(String region);

        abstract boolean knows(String region);

        /** Has a model copy the first half of a region to the second half of one, and returns why not. */
        abstract Optional<String> inferenceRefusal(String from, String to);
    }

    /** The values in the first half of a client's memory, or in its second. */
    private static float[] read(String key, long offset) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) HALF).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel memory = FileChannel.open(Path.of(key), StandardOpenOption.READ)) {
            assertThat(memory.read(bytes, offset)).isEqualTo((int) HALF);
        }
        float[] values = new float[bytes.capacity() / Float.BYTES];
        bytes.flip().asFloatBuffer().get(values);
        return values;
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAndWriteTheMemoryThatAClientSealed(Protocol protocol) throws Exception {
        try (ChildJvm client = ChildJvm.launch(MemfdClient.class, "sealed", "1")) {
            String key = client.awaitLine("exported", LIMIT);

            assertThat(protocol.refusal("sealed", key)).isEmpty();
            assertThat(protocol.inferenceRefusal("sealed", "sealed")).isEmpty();

            assertThat(read(key, HALF)).isEqualTo(MemfdClient.tensor(1));
            assertThat(read(key, 0)).isEqualTo(MemfdClient.tensor(1));
            protocol.unregister("sealed");
            assertThat(protocol.inferenceRefusal("sealed", "sealed"))
                    .hasValueSatisfying(why -> assertThat(why).contains("sealed"));
        }
    }

    /** No guard is needed: nobody can do to a sealed object what breaks a POSIX object's users. */
    @ParameterizedTest
    @EnumSource
    void shouldGoOnWithASealedObjectThatItsClientTriesToTruncate(Protocol protocol) throws Exception {
        try (ChildJvm client = ChildJvm.launch(MemfdClient.class, "sealed", "2")) {
            String key = client.awaitLine("exported", LIMIT);
            assertThat(protocol.refusal("whole", key)).isEmpty();

            try (FileChannel memory = FileChannel.open(Path.of(key), StandardOpenOption.WRITE)) {
                assertThatThrownBy(() -> memory.truncate(0)).isInstanceOf(IOException.class);
            }

            assertThat(protocol.inferenceRefusal("whole", "whole")).isEmpty();
            assertThat(read(key, HALF)).isEqualTo(MemfdClient.tensor(2));
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP, unsealed", "HTTP, file", "GRPC, unsealed", "GRPC, file"})
    void shouldRefuseADescriptorOfWhatIsNotSealed(Protocol protocol, String kind) throws Exception {
        Path file = Files.write(folder.resolve(protocol + kind), new byte[(int) MemfdClient.BYTE_SIZE]);
        try (ChildJvm client = ChildJvm.launch(MemfdClient.class, kind, file.toString())) {
            String key = client.awaitLine("exported", LIMIT);

            assertThat(protocol.refusal("unsealed", key)).hasValueSatisfying(why -> assertThat(why)
                    .contains("unsealed", key, "expected a memfd of the server's own user, sealed with F_SEAL_SHRINK"));

            assertThat(protocol.knows("unsealed")).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeOthersAndTheRegionItselfWhenAClientIsKilled(Protocol protocol) throws Exception {
        try (ChildJvm killed = ChildJvm.launch(MemfdClient.class, "sealed", "3");
                ChildJvm other = ChildJvm.launch(MemfdClient.class, "sealed", "4")) {
            String killedKey = killed.awaitLine("exported", LIMIT);
            String otherKey = other.awaitLine("exported", LIMIT);
            assertThat(protocol.refusal("killed", killedKey)).isEmpty();
            assertThat(protocol.refusal("other", otherKey)).isEmpty();

            killed.kill();

            assertThat(protocol.inferenceRefusal("other", "other")).isEmpty();
            assertThat(read(otherKey, HALF)).isEqualTo(MemfdClient.tensor(4));
            assertThat(protocol.inferenceRefusal("killed", "other")).isEmpty();
            assertThat(read(otherKey, HALF)).isEqualTo(MemfdClient.tensor(3));
            assertThat(protocol.inferenceRefusal("other", "killed")).isEmpty();
            protocol.unregister("killed");
            assertThat(protocol.knows("killed")).isFalse();
            assertThat(protocol.refusal("again", killedKey))
                    .hasValueSatisfying(why -> assertThat(why).contains("Unable to open shared memory region"));
        }
    }
}
