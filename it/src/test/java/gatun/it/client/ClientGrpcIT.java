// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferSequence;
import gatun.client.ModelMetadata;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.SystemRegion;
import gatun.client.UnreachableException;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java client over gRPC, against the real server. */
@Timeout(120)
class ClientGrpcIT {
    private static final int LIMIT_SECONDS = 60;

    @TempDir
    static Path folder;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static GatunClient client;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--model-control-mode=explicit",
                "--load-model=*",
                "--grpc-unix-socket=" + folder.resolve("grpc"));
        client = GatunClient.connect("grpc://127.0.0.1:" + server.grpcPort());
    }

    @Test
    void shouldInferFromArrays() {
        try (InferResponse response = client.infer(
                "simple",
                ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16),
                ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16))) {
            assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            assertThat(response.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
            assertThat(response.model()).isEqualTo("simple");
            assertThat(response.version()).isEqualTo("1");
            assertThat(response.id()).isEmpty();
            for (Tensor output : response.outputs()) {
                assertThat(output.bytes().address() % 64).isZero();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1000, 100_003, 6_000_001})
    void shouldCarryTensorsOfAnySize(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = i * 0.5f;
        }
        for (Compression compression : List.of(Compression.NONE, Compression.GZIP)) {
            try (GatunClient compressing = GatunClient.connect(
                            ClientOptions.of(client.address()).withCompression(compression));
                    InferResponse response =
                            compressing.infer("identity_fp32", ArrayTensors.of("INPUT0", values, count))) {
                assertThat(response.floats("OUTPUT0")).isEqualTo(values);
            }
        }
    }

    enum Kind {
        CONFINED {
            @Override
            Arena arena() {
                return Arena.ofConfined();
            }
        },
        SHARED {
            @Override
            Arena arena() {
                return Arena.ofShared();
            }
        };

        abstract Arena arena();
    }

    /** On a fresh connection, which only another thread knows at first. */
    @ParameterizedTest
    @EnumSource
    void shouldReadNativeMemoryAnewEachTime(Kind kind) {
        try (GatunClient fresh = GatunClient.connect("grpc+unix:" + folder.resolve("grpc"));
                Arena arena = kind.arena()) {
            MemorySegment memory = arena.allocate(ValueLayout.JAVA_FLOAT, 10_000);
            InferRequest request = InferRequest.to("identity_fp32")
                    .id("again")
                    .input("INPUT0", Datatype.FP32, memory, 10_000)
                    .build();
            for (int i = 0; i < 5; i++) {
                memory.setAtIndex(ValueLayout.JAVA_FLOAT, 9_999, i);
                try (InferResponse response = fresh.infer(request)) {
                    assertThat(response.id()).isEqualTo("again");
                    assertThat(response.floats("OUTPUT0")[9_999]).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void shouldCarryStrings() {
        String[] left = new String[16];
        Arrays.fill(left, "40");
        String[] right = new String[16];
        Arrays.fill(right, "2");
        try (InferResponse response = client.infer(
                "simple_string", ArrayTensors.of("INPUT0", left, 1, 16), ArrayTensors.of("INPUT1", right, 1, 16))) {
            assertThat(response.strings("OUTPUT0")).hasSize(16).containsOnly("42");
        }
    }

    @Test
    void shouldAnswerOnlyWhatWasWanted() {
        try (InferResponse response = client.infer(InferRequest.to("simple")
                .version("1")
                .input("INPUT0", SimpleModel.LEFT, 1, 16)
                .input("INPUT1", SimpleModel.RIGHT, 1, 16)
                .classes("OUTPUT0", 2)
                .build())) {
            assertThat(response.outputs()).hasSize(1);
            assertThat(response.strings("OUTPUT0")).containsExactly("132:15", "130:14");
            assertThatIllegalArgumentException().isThrownBy(() -> response.output("OUTPUT1"));
        }
    }

    @Test
    void shouldMakeInferencesWithoutWaiting() throws Exception {
        List<CompletableFuture<InferResponse>> responses = IntStream.range(0, 50)
                .mapToObj(i -> client.inferAsync(
                        InferRequest.of("identity_fp32", ArrayTensors.of("INPUT0", new float[] {i, 1}))))
                .toList();
        for (int i = 0; i < responses.size(); i++) {
            try (InferResponse response = responses.get(i).get(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                assertThat(response.floats("OUTPUT0")).containsExactly(i, 1);
            }
        }
        CompletableFuture<InferResponse> unwanted =
                client.inferAsync(InferRequest.of("identity_fp32", ArrayTensors.of("INPUT0", new float[] {1})));
        boolean cancelled = unwanted.cancel(true);
        if (cancelled) {
            assertThatExceptionOfType(CancellationException.class).isThrownBy(unwanted::join);
        }
    }

    @Test
    void shouldCarrySequences() {
        InferSequence sequence = client.sequence("simple_sequence");
        int[] value = {5};
        try (InferResponse first = sequence.next(ArrayTensors.of("INPUT", value, 1, 1));
                InferResponse last = sequence.last(ArrayTensors.of("INPUT", value, 1, 1))) {
            assertThat(first.ints("OUTPUT")).containsExactly(6);
            assertThat(last.ints("OUTPUT")).containsExactly(5);
        }
        assertThatIllegalStateException().isThrownBy(() -> sequence.next(ArrayTensors.of("INPUT", value, 1, 1)));
    }

    @Test
    void shouldTellWhatTheServerSays() {
        assertThatExceptionOfType(ServerException.class)
                .isThrownBy(() -> client.infer("nowhere", ArrayTensors.of("X", new int[1])))
                .withMessageContaining("'nowhere'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                .satisfies(e -> assertThat(e.status()).isEqualTo(5));
        assertThatExceptionOfType(ServerException.class)
                .isThrownBy(() -> client.infer("simple", ArrayTensors.of("INPUT0", new float[16], 1, 16)))
                .withMessageContaining("expected 2 inputs but got 1 inputs for model 'simple'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void shouldControlTheServer() {
        assertThat(client.server().live()).isTrue();
        assertThat(client.server().ready()).isTrue();
        assertThat(client.server().metadata().extensions()).contains("system_shared_memory");
        ModelMetadata metadata = client.models().metadata("simple");
        assertThat(metadata.inputs().getFirst().shape().toArray()).containsExactly(-1, 16);
        assertThat(metadata.outputs().getFirst().datatype()).isEqualTo(Datatype.INT32);
        assertThat(client.models().config("simple", "").getMaxBatchSize()).isEqualTo(8);
        assertThat(client.models().statistics("simple", "").getFirst().getName())
                .isEqualTo("simple");
        assertThat(client.models().ready("simple", "")).isTrue();
        assertThat(client.models().ready("nowhere", "")).isFalse();
        assertThat(client.models().index(true))
                .anySatisfy(model -> assertThat(model.name()).isEqualTo("simple"))
                .allSatisfy(model -> assertThat(model.isReady()).isTrue());
    }

    @Test
    void shouldLoadAndUnloadModels() {
        client.models().unload("running_sum");
        assertThat(client.models().index(false))
                .filteredOn(model -> model.name().equals("running_sum"))
                .isNotEmpty()
                .allSatisfy(model -> assertThat(model.isReady()).isFalse());
        client.models().load("running_sum");
        assertThat(client.models().ready("running_sum", "")).isTrue();
        assertThatExceptionOfType(ServerException.class)
                .isThrownBy(() -> client.models().load("simple", "", Map.of("1/model.onnx", new byte[1])))
                .withMessageContaining("config");
    }

    @Test
    void shouldControlRegions() throws Exception {
        try (SharedObject object = SharedObject.create(64)) {
            client.regions().register("grpc-client", object.key(), 0, 64);
            assertThat(client.regions().regions())
                    .containsExactly(new SystemRegion("grpc-client", object.key(), 0, 64));
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() -> client.regions().register("grpc-client", object.key(), 0, 64))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.ALREADY_EXISTS));
            client.regions().unregister("grpc-client");
            client.regions().unregister("grpc-client");
            assertThat(client.regions().regions()).isEmpty();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.regions().unregister(""))
                    .withMessageContaining("unregisterAll()");
        }
    }

    @Test
    void shouldKeepItsDeadline() {
        try (GatunClient hurried =
                GatunClient.connect(ClientOptions.of(client.address()).withDeadline(Duration.ofNanos(1)))) {
            assertThatExceptionOfType(DeadlineException.class)
                    .isThrownBy(() -> hurried.models().metadata("simple"))
                    .withMessageContaining("the metadata of model 'simple' of grpc://127.0.0.1:");
        }
        InferRequest hurried = InferRequest.to("identity_fp32")
                .input("INPUT0", new float[1])
                .deadline(Duration.ofNanos(1))
                .build();
        assertThatExceptionOfType(DeadlineException.class).isThrownBy(() -> client.infer(hurried));
    }

    @Test
    void shouldTellWhenNobodyIsThere() {
        try (GatunClient nobody = GatunClient.connect(
                ClientOptions.of("grpc+unix:" + folder.resolve("nobody")).withRetries(Retries.NONE))) {
            assertThat(nobody.server().live()).isFalse();
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> nobody.models().metadata("simple"))
                    .withMessageContaining("the metadata of model 'simple' of grpc+unix:")
                    .satisfies(e -> assertThat(e.mayHaveArrived()).isFalse());
        }
        try (GatunClient nobody =
                GatunClient.connect(ClientOptions.of("grpc://127.0.0.1:1").withRetries(Retries.NONE))) {
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> nobody.models().metadata("simple"))
                    .satisfies(e -> assertThat(e.mayHaveArrived()).isFalse());
        }
    }

    @Test
    void shouldRefuseMisuse() {
        GatunClient closed = GatunClient.connect(client.address());
        closed.close();
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> closed.infer("simple"))
                .withMessageContaining("the client of " + client.address() + " was closed");
        assertThatIllegalStateException().isThrownBy(() -> closed.server().metadata());
        InferRequest request;
        try (Arena arena = Arena.ofShared()) {
            request = InferRequest.to("identity_fp32")
                    .input("INPUT0", Datatype.FP32, arena.allocate(4), 1)
                    .build();
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> client.infer(request))
                .withMessageContaining("the memory of tensor 'INPUT0' was freed");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        GatunClient.connect(ClientOptions.of(client.address()).withCompression(Compression.DEFLATE)))
                .withMessageContaining("DEFLATE");
    }

    @Test
    void shouldGiveACallUpWhenItsThreadIsInterrupted() throws Exception {
        Thread.currentThread().interrupt();
        try {
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.infer("identity_fp32", ArrayTensors.of("INPUT0", new float[1])))
                    .withMessageContaining("interrupted");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            boolean ignored = Thread.interrupted();
        }
        try (InferResponse response = client.infer("identity_fp32", ArrayTensors.of("INPUT0", new float[1]))) {
            assertThat(response.floats("OUTPUT0")).containsExactly(0);
        }
    }
}
