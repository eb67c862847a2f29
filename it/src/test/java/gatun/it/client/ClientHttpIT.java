// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.SystemRegion;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The client over HTTP with the real server.process(), on TCP and on a Unix socket. */
@Timeout(120)
class ClientHttpIT {
    private static final Tensor LEFT = ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16);
    private static final Tensor RIGHT = ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16);

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(() -> ServerProcess.launch(
            ServerProcess.exampleModels(), "--http-unix-socket=" + folder.resolve("http.sock"), "--allow-client-shm"));

    /** How the server is reached. */
    enum Transport {
        TCP,
        UNIX;

        String url() {
            return switch (this) {
                case TCP -> "http://127.0.0.1:" + server.httpPort();
                case UNIX -> "unix:" + folder.resolve("http.sock");
            };
        }

        GatunClient client() {
            return GatunClient.connect(url());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerWithTheModelsOutputs(Transport transport) {
        try (GatunClient client = transport.client();
                InferResponse response = client.infer("simple", LEFT, RIGHT)) {
            assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            assertThat(response.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
            assertThat(response.model()).isEqualTo("simple");
            assertThat(response.version()).isEqualTo("1");
            assertThat(response.output("OUTPUT0").spec().shape().toArray()).containsExactly(1, 16);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSendWhatTheMemoryHoldsAtEachCall(Transport transport) {
        try (GatunClient client = transport.client();
                Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ValueLayout.JAVA_FLOAT, 100_000);
            InferRequest request = InferRequest.to("identity_fp32")
                    .id("again")
                    .input("INPUT0", Datatype.FP32, values, 100_000)
                    .build();
            for (int call = 1; call <= 3; call++) {
                for (int i = 0; i < 100_000; i++) {
                    values.setAtIndex(ValueLayout.JAVA_FLOAT, i, call * 1_000_000f + i);
                }
                try (InferResponse response = client.infer(request)) {
                    assertThat(response.id()).isEqualTo("again");
                    assertThat(response.bytes("OUTPUT0")).isEqualTo(values.toArray(ValueLayout.JAVA_BYTE));
                    assertThat(response.output("OUTPUT0").bytes().address() % 64)
                            .isZero();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheServersTextAndCode(Transport transport) {
        try (GatunClient client = transport.client()) {
            ServerException unknown = catchThrowableOfType(ServerException.class, () -> client.infer("nothing", LEFT));
            assertThat(unknown).hasMessage("Request for unknown model: 'nothing' is not found");
            assertThat(unknown.code()).isEqualTo(StatusCode.NOT_FOUND);
            assertThat(unknown.status()).isEqualTo(404);
            ServerException missing = catchThrowableOfType(ServerException.class, () -> client.infer("simple", LEFT));
            assertThat(missing.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThat(missing).hasMessageContaining("simple");
            // The connection is as good as before.
            try (InferResponse response = client.infer("simple", LEFT, RIGHT)) {
                assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheStateOfASequence(Transport transport) {
        try (GatunClient client = transport.client()) {
            var sequence = client.sequence("running_sum");
            List<Integer> sums = new ArrayList<>();
            for (int i = 1; i <= 3; i++) {
                Tensor value = ArrayTensors.of("INPUT", new int[] {i}, 1, 1);
                try (InferResponse response = i == 3 ? sequence.last(value) : sequence.next(value)) {
                    sums.add(response.ints("OUTPUT")[0]);
                }
            }
            assertThat(sums).containsExactly(1, 3, 6);
            assertThatThrownBy(() -> sequence.next(LEFT)).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatTheServerAndItsModelsAre(Transport transport) {
        try (GatunClient client = transport.client()) {
            assertThat(client.server().live()).isTrue();
            assertThat(client.server().ready()).isTrue();
            assertThat(client.server().metadata().extensions()).contains("binary_tensor_data");
            assertThat(client.models().ready("simple", "")).isTrue();
            assertThat(client.models().ready("nothing", "")).isFalse();
            assertThat(client.models().metadata("simple").inputs())
                    .extracting(spec -> spec.name() + spec.datatype() + spec.shape())
                    .containsExactly("INPUT0INT32[-1,16]", "INPUT1INT32[-1,16]");
            assertThat(client.models().config("simple", "").getMaxBatchSize()).isPositive();
            assertThat(client.models().statistics("simple", "1")).hasSize(1);
            assertThat(client.models().statistics("", "").size()).isGreaterThan(3);
            assertThat(client.models().index(true))
                    .anyMatch(model -> model.name().equals("simple") && model.isReady());
            assertThat(client.regions().regions()).isEmpty();
            assertThat(client.regions().cudaRegions()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSendTextsAndTakeThem(Transport transport) {
        String[] left = new String[16];
        String[] right = new String[16];
        for (int i = 0; i < 16; i++) {
            left[i] = Integer.toString(i);
            right[i] = "1";
        }
        InferRequest request = InferRequest.to("simple_string")
                .input("INPUT0", left, 1, 16)
                .input("INPUT1", right, 1, 16)
                .output("OUTPUT0")
                .build();
        for (ClientOptions options : List.of(
                ClientOptions.of(transport.url()),
                ClientOptions.of(transport.url()).withBinaryTensors(false),
                ClientOptions.of(transport.url()).withCompression(Compression.GZIP))) {
            try (GatunClient client = GatunClient.connect(options);
                    InferResponse response = client.infer(request)) {
                assertThat(response.strings("OUTPUT0"))
                        .startsWith("1", "2", "3")
                        .hasSize(16);
                assertThat(response.outputs()).hasSize(1);
            }
        }
    }

    /** As examples of Triton's clients do. */
    @ParameterizedTest
    @EnumSource
    void shouldGetTextsOfAnyLengthBack(Transport transport) {
        String[] texts = {"", "größe", "a".repeat(10_000), "4"};
        try (GatunClient client = transport.client();
                InferResponse response =
                        client.infer("simple_identity", ArrayTensors.of("INPUT0", texts, 2, texts.length / 2))) {
            assertThat(response.strings("OUTPUT0")).containsExactly(texts);
            assertThat(response.output("OUTPUT0").spec().shape().toArray()).containsExactly(2, 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerTheSameInJsonAndCompressed(Transport transport) {
        ClientOptions plain = ClientOptions.of(transport.url());
        for (boolean binary : new boolean[] {true, false}) {
            for (Compression compression : Compression.values()) {
                try (GatunClient client =
                        GatunClient.connect(plain.withBinaryTensors(binary).withCompression(compression))) {
                    for (int call = 0; call < 2; call++) {
                        try (InferResponse response = client.infer("simple", LEFT, RIGHT)) {
                            assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
                            assertThat(response.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameTheBestClasses(Transport transport) {
        try (GatunClient client = transport.client();
                InferResponse response = client.infer(InferRequest.to("simple")
                        .input(LEFT)
                        .input(RIGHT)
                        .classes("OUTPUT0", 2)
                        .build())) {
            assertThat(response.strings("OUTPUT0")).containsExactly("132:15", "130:14");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldInferInRegions(Transport transport) throws Exception {
        String region = "tensors-" + transport;
        try (SharedObject object = SharedObject.create(4096);
                GatunClient client = transport.client()) {
            client.regions().register(region, object.key(), 1024, 2048);
            assertThat(client.regions().regions()).contains(new SystemRegion(region, object.key(), 1024, 2048));
            object.write(1024, MemorySegment.ofArray(new float[] {1, 2, 3, 4}).toArray(ValueLayout.JAVA_BYTE));
            InferRequest request = InferRequest.to("identity_fp32")
                    .inputInRegion("INPUT0", Datatype.FP32, Shape.of(4), region, 0, 16)
                    .outputInRegion("OUTPUT0", region, 1024, 16)
                    .build();
            try (InferResponse response = client.infer(request)) {
                assertThat(response.outputs()).isEmpty();
                assertThat(response.inRegions()).containsExactly(new TensorSpec("OUTPUT0", Datatype.FP32, Shape.of(4)));
                assertThatThrownBy(() -> response.floats("OUTPUT0"))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("was written to a region");
            }
            assertThat(object.read(2048, 16)).isEqualTo(object.read(1024, 16));

            assertThatThrownBy(() -> client.regions().register(region, object.key(), 0, 64))
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining(region);
            assertThatThrownBy(() -> client.regions().register("x", "/nothing-there", 0, 64))
                    .isInstanceOf(ServerException.class);
            client.regions().unregister(region);
            client.regions().unregister("of nobody");
            assertThat(client.regions().regions()).noneMatch(one -> one.name().equals(region));
            client.regions().unregisterCuda("of nobody");
            client.regions().unregisterAll();
            client.regions().unregisterAllCuda();
            assertThatThrownBy(() -> client.infer(request))
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining(region);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerManyCallsAtOnce(Transport transport) {
        try (GatunClient client = transport.client()) {
            List<CompletableFuture<InferResponse>> calls = new ArrayList<>();
            for (int call = 0; call < 200; call++) {
                int[] left = new int[16];
                Arrays.fill(left, call);
                calls.add(client.inferAsync(InferRequest.of("simple", ArrayTensors.of("INPUT0", left, 1, 16), RIGHT)));
            }
            for (int call = 0; call < calls.size(); call++) {
                try (InferResponse response = calls.get(call).join()) {
                    assertThat(response.ints("OUTPUT0")[0]).isEqualTo(call + SimpleModel.RIGHT[0]);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatWasUsedWrongly(Transport transport) {
        try (GatunClient client = transport.client()) {
            InferResponse response = client.infer("simple", LEFT, RIGHT);
            assertThatThrownBy(() -> response.floats("OUTPUT0"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("tensor 'OUTPUT0' has the datatype INT32, which floats() does not give: use ints()");
            assertThatThrownBy(() -> response.ints("OUTPUT9"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the answer of model 'simple' has no output 'OUTPUT9': it has [OUTPUT0, OUTPUT1]");
            response.close();
            response.close();
            assertThatThrownBy(() -> response.ints("OUTPUT0"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was closed");
            assertThatThrownBy(() -> ArrayTensors.of("T", Datatype.FP32, new byte[7], 2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the segment is too small, it has 7 bytes: expected 8");
            assertThatThrownBy(() -> client.infer("simple", ArrayTensors.of("INPUT0", new float[16], 1, 16), RIGHT))
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining("INPUT0");
        }
    }
}
