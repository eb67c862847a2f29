// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.management.ThreadMXBean;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.client.ServerException;
import gatun.client.SharedTensors;
import gatun.client.SharedTensorsBuilder;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tensors that the Java client shares with the real server.process(), over each of its transports. */
@Timeout(120)
class SharedTensorsIT {
    private static final int LIMIT_SECONDS = 60;
    private static final int WARM_UP = 20_000;
    private static final int CALLS = 10_000;

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(() -> ServerProcess.launch(
            ServerProcess.exampleModels(),
            "--allow-client-shm",
            "--http-unix-socket=" + folder.resolve("http"),
            "--grpc-unix-socket=" + folder.resolve("grpc")));

    private static final HttpApi http = server.http();

    /** After each test nothing is registered and no buffer is lent. */
    @AfterEach
    void shouldHaveLeftNothing() {
        assertThat(http.get("/v2/systemsharedmemory/status").body()).isEqualTo("[]");
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
        assertThat(objects()).isEmpty();
    }

    enum Way {
        SEALED_GRPC,
        POSIX_GRPC,
        SEALED_GRPC_UNIX,
        SEALED_HTTP,
        POSIX_HTTP,
        SEALED_HTTP_UNIX,
        SEALED_LANE,
        POSIX_LANE;

        GatunClient connect() {
            return GatunClient.connect(
                    switch (this) {
                        case SEALED_GRPC, POSIX_GRPC -> "grpc://127.0.0.1:" + server.grpcPort();
                        case SEALED_HTTP, POSIX_HTTP -> "http://127.0.0.1:" + server.httpPort();
                        case SEALED_HTTP_UNIX -> "unix:" + folder.resolve("http");
                        case SEALED_GRPC_UNIX -> "grpc+unix:" + folder.resolve("grpc");
                        case SEALED_LANE, POSIX_LANE -> "lane:" + folder.resolve("http");
                    });
        }

        SharedTensorsBuilder tensors(GatunClient client, String model) {
            return name().startsWith("POSIX")
                    ? SharedTensors.posix(client, model)
                    : SharedTensors.sealed(client, model);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldInferAsOftenAsOneLikes(Way way) {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.set("INPUT1", SimpleModel.RIGHT);
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            assertThat(tensors.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
            MemorySegment input = tensors.input("INPUT0");
            MemorySegment sum = tensors.output("OUTPUT0").bytes();
            for (int i = 0; i < 100; i++) {
                input.setAtIndex(ValueLayout.JAVA_INT, 3, i);
                tensors.infer();
                assertThat(sum.getAtIndex(ValueLayout.JAVA_INT, 3)).isEqualTo(i + SimpleModel.RIGHT[3]);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldLayTensorsOutAligned(Way way) {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple").batch(3).open()) {
            for (String name : List.of("INPUT0", "INPUT1")) {
                assertThat(tensors.input(name).address() % 64).isZero();
                assertThat(tensors.input(name).byteSize()).isEqualTo(3 * 16 * Integer.BYTES);
            }
            tensors.input("INPUT0").fill((byte) 1);
            tensors.infer();
            Tensor sum = tensors.output("OUTPUT0");
            assertThat(sum.bytes().address() % 64).isZero();
            assertThat(sum.spec().shape().toArray()).containsExactly(3, 16);
            assertThat(tensors.ints("OUTPUT0")).containsOnly(0x01010101).hasSize(48);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryStrings(Way way) {
        String[] left = new String[16];
        Arrays.fill(left, "40");
        String[] right = new String[16];
        Arrays.fill(right, "2");
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple_string")
                        .inputBytes("INPUT0", 1024, 1, 16)
                        .inputBytes("INPUT1", 1024, 1, 16)
                        .outputBytes("OUTPUT0", 1024)
                        .outputBytes("OUTPUT1", 1024)
                        .open()) {
            tensors.set("INPUT0", left);
            tensors.set("INPUT1", right);
            tensors.infer();
            assertThat(tensors.strings("OUTPUT0")).hasSize(16).containsOnly("42");
            left[0] = "123456";
            tensors.set("INPUT0", left);
            tensors.infer();
            assertThat(tensors.strings("OUTPUT0")).startsWith("123458", "42");
            assertThat(tensors.output("OUTPUT0").byteSize()).isEqualTo(16 * (4 + 2) + 4);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tensors.set("INPUT0", "1"))
                    .withMessageContaining("was given 1 values: expected 16");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeTheShapeFromTheAnswer(Way way) {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "identity_fp32")
                        .input("INPUT0", Datatype.FP32, 5)
                        .outputBytes("OUTPUT0", 4096)
                        .open()) {
            tensors.set("INPUT0", 1f, 2f, 3f, 4f, 5f);
            tensors.infer();
            assertThat(tensors.outputSpec("OUTPUT0").shape().toArray()).containsExactly(5);
            assertThat(tensors.floats("OUTPUT0")).containsExactly(1, 2, 3, 4, 5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldInferWithoutWaiting(Way way) throws Exception {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Void> done = tensors.inferAsync();
                done.get(LIMIT_SECONDS, TimeUnit.SECONDS);
                assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.LEFT);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryTheRequestsOfASequence(Way way) {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple_sequence").open()) {
            tensors.set("INPUT", 10);
            tensors.infer(request -> request.sequence(77, true, false));
            assertThat(tensors.ints("OUTPUT")).containsExactly(11);
            tensors.infer(request -> request.sequence(77, false, true));
            assertThat(tensors.ints("OUTPUT")).containsExactly(10);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveTheMemoryBackWhenTheClientWasClosedFirst(Way way) {
        GatunClient client = way.connect();
        SharedTensors tensors = way.tensors(client, "simple").open();
        MemorySegment input = tensors.input("INPUT0");
        String region = tensors.region();
        client.close();
        tensors.close();
        assertThat(input.scope().isAlive()).isFalse();
        assertThat(objects()).isEmpty();
        assertThat(http.unregister(region).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRegisterOnceMoreWhenTheServerForgot(Way way) {
        try (GatunClient client = way.connect();
                SharedTensors tensors = way.tensors(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.infer();
            client.regions().unregisterAll();
            tensors.set("INPUT1", SimpleModel.RIGHT);
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
        }
    }

    /** The HTTP client's own timeout, which covers the whole of a call. */
    @Test
    void shouldMakeLittleGarbage() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (GatunClient client = Way.SEALED_HTTP_UNIX.connect();
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            for (int i = 0; i < WARM_UP; i++) {
                tensors.infer();
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                tensors.infer();
            }
            assertThat((threads.getCurrentThreadAllocatedBytes() - before) / CALLS)
                    .isLessThan(2048);
        }
    }

    /** A response object, and what the retries of a call need; no lists, specs or texts. */
    @Test
    void shouldMakeHardlyAnyGarbageInALane() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (GatunClient client = Way.SEALED_LANE.connect();
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            for (int i = 0; i < WARM_UP; i++) {
                tensors.infer();
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                tensors.infer();
            }
            assertThat((threads.getCurrentThreadAllocatedBytes() - before) / CALLS)
                    .isLessThan(256);
        }
    }

    @Test
    void shouldSpinInALaneAndNowhereElse() {
        try (GatunClient client = Way.SEALED_LANE.connect().spinning(Duration.ofMillis(1));
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.LEFT);
        }
        try (GatunClient client = Way.SEALED_HTTP_UNIX.connect()) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> client.spinning(Duration.ofMillis(1)))
                    .withMessageContaining("lane:/PATH");
        }
    }

    @Test
    void shouldRefuseEveryUseAfterClosing() {
        try (GatunClient client = Way.SEALED_GRPC.connect()) {
            SharedTensors tensors = SharedTensors.sealed(client, "simple").open();
            tensors.close();
            tensors.close();
            assertThatIllegalStateException()
                    .isThrownBy(tensors::infer)
                    .withMessageContaining("shared tensors of model 'simple' were closed");
            assertThatIllegalStateException().isThrownBy(() -> tensors.input("INPUT0"));
            assertThatIllegalStateException().isThrownBy(() -> tensors.output("OUTPUT0"));
            assertThatIllegalStateException().isThrownBy(() -> tensors.set("INPUT0", SimpleModel.LEFT));
        }
    }

    @Test
    void shouldSayWhatIsWrong() {
        try (GatunClient client = Way.SEALED_GRPC.connect()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> SharedTensors.sealed(client, "simple_string").open())
                    .withMessageContaining(
                            "the size of tensor 'INPUT0' BYTES [1,16] of model 'simple_string' is not known")
                    .withMessageContaining("inputBytes(");
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() -> SharedTensors.sealed(client, "nowhere").open())
                    .withMessageContaining("'nowhere'");
            try (SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> tensors.ints("OUTPUT0"))
                        .withMessageContaining("call infer() first");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> tensors.set("INPUT0", 1f))
                        .withMessage("input 'INPUT0' INT32 [1,16] was given a float[]: expected an int[]");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> tensors.set("INPUT0", 1, 2))
                        .withMessage("input 'INPUT0' INT32 [1,16] was given 2 values: expected 16");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> tensors.write("INPUT0", MemorySegment.ofArray(new byte[63])))
                        .withMessageContaining("the segment is too small, it has 63 bytes: expected 64");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> tensors.input("OUTPUT0"))
                        .withMessageContaining("have no input 'OUTPUT0': expected one of [INPUT0, INPUT1]");
                assertThatIllegalStateException()
                        .isThrownBy(() -> tensors.inputOnGpu("INPUT0"))
                        .withMessageContaining("not on a GPU");
            }
        }
    }

    @Test
    void shouldGiveTheMemoryBackWhenTheServerRefusesIt() {
        try (GatunClient client = Way.POSIX_GRPC.connect()) {
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() ->
                            SharedTensors.posix(client, "simple").version("99").open());
            assertThat(objects()).isEmpty();
        }
    }

    /** The shared-memory objects of this process that are there. */
    private static List<String> objects() {
        String[] names = Path.of("/dev/shm")
                .toFile()
                .list((directory, name) ->
                        name.startsWith("gatun-" + ProcessHandle.current().pid() + "-"));
        return names == null ? List.of() : List.of(names);
    }

    /** Shows that a stream of responses goes on with shared memory. */
    @Test
    void shouldNotDisturbOtherInferences() {
        try (GatunClient client = Way.SEALED_GRPC.connect();
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.infer();
            try (InferResponse response = client.infer(tensors.request())) {
                assertThat(response.outputs()).isEmpty();
                assertThat(response.inRegions()).hasSize(2);
            }
        }
    }
}
