// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.client.InferSequence;
import gatun.client.Retries;
import gatun.client.UnreachableException;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Tensor;
import gatun.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One client of three servers, of which one dies, hangs or is stopped. */
@Timeout(120)
class SeveralServersIT {
    private static final Tensor LEFT = ArrayTensors.of("INPUT0", SimpleModel.LEFT, 1, 16);
    private static final Tensor RIGHT = ArrayTensors.of("INPUT1", SimpleModel.RIGHT, 1, 16);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final List<ServerProcess> servers = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        for (int i = 0; i < 3; i++) {
            servers.add(ServerProcess.launch(
                    ServerProcess.exampleModels(),
                    "--model-control-mode=explicit",
                    "--load-model=simple",
                    "--load-model=running_sum"));
        }
    }

    @AfterEach
    void stop() {
        servers.forEach(ServerProcess::close);
    }

    @Test
    void shouldAnswerEveryRequestWhileOneServerDiesAndAnotherIsStopped() throws Exception {
        try (GatunClient client = GatunClient.connect(options());
                ExecutorService callers = Executors.newFixedThreadPool(4)) {
            CountDownLatch busy = new CountDownLatch(100);
            CountDownLatch halved = new CountDownLatch(200);
            CountDownLatch gone = new CountDownLatch(1);
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < 4; caller++) {
                running.add(callers.submit(() -> {
                    while (gone.getCount() > 0) {
                        assertThat(sum(client)).isEqualTo(SimpleModel.SUM);
                        busy.countDown();
                        halved.countDown();
                    }
                    for (int i = 0; i < 50; i++) {
                        assertThat(sum(client)).isEqualTo(SimpleModel.SUM);
                    }
                }));
            }
            busy.await();
            servers.get(0).signal("KILL");
            halved.await();
            servers.get(1).terminate();
            servers.get(1).awaitExit(LIMIT);
            gone.countDown();
            for (Future<?> each : running) {
                each.get();
            }
            assertThat(client.server().ready()).isTrue();
            assertThat(client.models().ready("simple", "")).isTrue();
        }
        servers.removeFirst().awaitExit(LIMIT);
    }

    @Test
    void shouldLeaveOutAServerThatHangsUntilItAnswersAgain() throws Exception {
        Retries hedged = Retries.STANDARD.withHedgeAfter(Duration.ofSeconds(1));
        ClientOptions options =
                options().withServers(options().servers().subList(0, 2)).withRetries(hedged);
        try (GatunClient client = GatunClient.connect(options)) {
            ServerProcess hanging = servers.getFirst();
            assertThat(sum(client)).isEqualTo(SimpleModel.SUM);
            hanging.signal("STOP");
            try {
                // Ten may be hedged, and three that hang in a row are enough.
                for (int i = 0; i < 100; i++) {
                    assertThat(sum(client)).isEqualTo(SimpleModel.SUM);
                }
            } finally {
                hanging.signal("CONT");
            }
            try (GatunClient alone = GatunClient.connect(
                    options().withServers(options().servers().subList(0, 1)))) {
                long before = inferences(alone);
                Await.until("it gets requests again", () -> {
                    sum(client);
                    return inferences(alone) > before;
                });
            }
        }
    }

    @Test
    void shouldKeepASequenceOnItsServer() {
        try (GatunClient client = GatunClient.connect(options())) {
            List<InferSequence> sequences = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                sequences.add(client.sequence("running_sum"));
            }
            for (int step = 1; step <= 3; step++) {
                for (InferSequence sequence : sequences) {
                    Tensor input = ArrayTensors.of("INPUT", new int[] {step}, 1, 1);
                    try (InferResponse response = step < 3 ? sequence.next(input) : sequence.last(input)) {
                        assertThat(response.ints("OUTPUT")).containsExactly(step * (step + 1) / 2);
                    }
                }
            }
        }
    }

    @Test
    void shouldSayThatNoServerAnswers() {
        ClientOptions options = options().withRetries(Retries.NONE);
        servers.forEach(ServerProcess::terminate);
        servers.forEach(server -> server.awaitExit(LIMIT));
        try (GatunClient client = GatunClient.connect(options)) {
            assertThatThrownBy(() -> sum(client)).isInstanceOf(UnreachableException.class);
            assertThat(client.server().ready()).isFalse();
            assertThatThrownBy(client::regions).hasMessageContaining("several servers");
        }
        assertThatThrownBy(() -> ClientOptions.of("http://localhost").withServers("lane:/run/gatun.sock"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lane:/run/gatun.sock");
    }

    /** All three, of which the last is asked over gRPC. */
    private ClientOptions options() {
        return ClientOptions.of("http://127.0.0.1:" + servers.get(0).httpPort())
                .withServers(
                        "http://127.0.0.1:" + servers.get(1).httpPort(),
                        "grpc://127.0.0.1:" + servers.get(2).grpcPort());
    }

    private static int[] sum(GatunClient client) {
        try (InferResponse response = client.infer("simple", LEFT, RIGHT)) {
            return response.ints("OUTPUT0");
        }
    }

    private static long inferences(GatunClient client) {
        return client.models().statistics("simple", "").getFirst().getInferenceCount();
    }
}
