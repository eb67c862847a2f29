package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.client.ArrayTensors;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.Datatype;
import gatun.memory.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The client over HTTP with the real server, on TCP and on a Unix socket. */
@Timeout(120)
class ClientHttpIT {
    private static final Tensor LEFT = ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16);
    private static final Tensor RIGHT = ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16);

    @TempDir
    static Path folder;

    private static ServerProcess server;

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

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(
                ServerProcess.exampleModels(), "--http-unix-socket=" + folder.resolve("http.sock"));
    }

    @AfterAll
    static void stop() {
        server.close();
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
}
