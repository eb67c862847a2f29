// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.client.ClientOptions;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.SharedTensors;
import gatun.client.UnreachableException;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.lane.RingEntry;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients and servers of lanes that end, in order and killed, and clients that write nonsense. */
@Timeout(120)
class LaneEndIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int LIMIT_SECONDS = 60;
    /** A minute of nonsense takes about a million. */
    private static final int RIGHT_ANSWERS = Integer.getInteger("gatun.lane.answers", 3000);

    @TempDir
    Path folder;

    private ServerProcess launch(Path models) throws Exception {
        return ServerProcess.launch(
                models,
                "--allow-client-shm",
                "--http-unix-socket=" + folder.resolve("http"),
                "--model-control-mode=explicit",
                "--load-model=*");
    }

    private String lane() {
        return "lane:" + folder.resolve("http");
    }

    @Test
    void shouldAnswerOthersWhileClientsWriteNonsenseAndAreKilled() throws Exception {
        try (ServerProcess server = launch(ServerProcess.exampleModels());
                HttpApi http = new HttpApi(server);
                GatunClient client = GatunClient.connect(lane());
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open();
                ChildJvm vandal =
                        ChildJvm.launch(LaneVandal.class, folder.resolve("http").toString(), "7");
                ChildJvm other =
                        ChildJvm.launch(LaneLoop.class, folder.resolve("http").toString())) {
            vandal.awaitLine("writing", LIMIT);
            other.awaitLine("running", LIMIT);
            tensors.set("INPUT1", SimpleModel.RIGHT);
            for (int i = 0; i < RIGHT_ANSWERS; i++) {
                int[] left = SimpleModel.LEFT.clone();
                left[i % 16] = i;
                tensors.set("INPUT0", left);
                tensors.infer();
                int[] sum = tensors.ints("OUTPUT0");
                for (int j = 0; j < sum.length; j++) {
                    assertThat(sum[j]).isEqualTo(left[j] + SimpleModel.RIGHT[j]);
                }
                if (i == RIGHT_ANSWERS / 3) {
                    other.kill();
                }
            }
            vandal.kill();
            tensors.infer();
            Await.until("buffers to come back", () -> http.metric("gatun_buffer_pool_used_bytes") == 0);
        }
    }

    @Test
    void shouldNoticeAtOnceThatTheServerWasKilled() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        new ModelRepositoryFolder(models).delay("slow", 600_000);
        try (SharedMemoryObject memory = SharedMemoryObject.sealed(4096)) {
            ServerProcess server = launch(models);
            try (GatunClient client =
                    GatunClient.connect(ClientOptions.of(lane()).withRetries(Retries.NONE))) {
                client.regions().register("r", memory.key(), 0, 4096);
                CompletableFuture<InferResponse> answer = client.inferAsync(slow());
                Await.until("the request to run", () -> isUnderWay(client));
                server.signal("KILL");
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(() -> answer.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                        .withCauseInstanceOf(UnreachableException.class);
            }
        }
    }

    @Test
    void shouldEndTheConnectionOfALaneThatEnds() throws Exception {
        try (ServerProcess server = launch(ServerProcess.exampleModels());
                RawLane lane = RawLane.open(folder.resolve("http"))) {
            assertThat(server.readyFileExists()).isTrue();

            lane.memory.submit(RingEntry.of(lane.geometry.slots(), RingEntry.INFER, 1));

            // Whoever sleeps until a slot is answered looks at nothing else.
            lane.awaitConnectionEnd();
        }
    }

    @Test
    void shouldEndTheLaneOfAClientThatGivesUpAllItAsksFor() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        new ModelRepositoryFolder(models).simple("m", "", 1);
        try (ServerProcess server = launch(models);
                RawLane lane = RawLane.open(folder.resolve("http"))) {
            assertThat(server.readyFileExists()).isTrue();
            int prepared = lane.prepare("m", RawLane.SIMPLE);
            CompletableFuture<Void> end = CompletableFuture.runAsync(lane::awaitConnectionEnd);
            while (!end.isDone()) {
                for (int slot = 0; slot < lane.geometry.slots(); slot++) {
                    lane.fillSimple(slot, prepared, 0);
                    lane.deadline(slot, 1); // long past
                    lane.infer(slot);
                }
                for (int slot = 0; slot < lane.geometry.slots(); slot++) {
                    while (lane.isFilled(slot) && !end.isDone()) {
                        Thread.onSpinWait();
                    }
                }
            }
            end.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static InferRequest slow() {
        return InferRequest.to("slow")
                .inputInRegion("IN", Datatype.INT32, Shape.of(1), "r", 0, 4)
                .outputInRegion("OUT", "r", 64, 4)
                .build();
    }

    @Test
    void shouldGoOnWithAServerThatWasStartedAnew() throws Exception {
        try (GatunClient client = GatunClient.connect(lane())) {
            SharedTensors tensors;
            try (ServerProcess server = launch(ServerProcess.exampleModels())) {
                assertThat(server.readyFileExists()).isTrue();
                tensors = SharedTensors.sealed(client, "simple").open();
                tensors.set("INPUT0", SimpleModel.LEFT);
                tensors.set("INPUT1", SimpleModel.RIGHT);
                tensors.infer();
            }
            try (ServerProcess server = launch(ServerProcess.exampleModels())) {
                assertThat(server.readyFileExists()).isTrue();
                tensors.infer();
                assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
                tensors.close();
            }
        }
    }

    @Test
    void shouldKeepPreparedRequestsWhenTheirModelIsLoadedAnew() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        ModelRepositoryFolder repository = new ModelRepositoryFolder(models);
        repository.simple("m", "", 1);
        try (ServerProcess server = launch(models);
                GatunClient client = GatunClient.connect(lane());
                SharedTensors tensors = SharedTensors.sealed(client, "m").open()) {
            assertThat(server.readyFileExists()).isTrue();
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.infer();
            repository.simple("m", "", 2);
            client.models().load("m");
            tensors.set("INPUT1", SimpleModel.RIGHT);
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            client.models().unload("m");
            assertThatExceptionOfType(ServerException.class).isThrownBy(tensors::infer);
            client.models().load("m");
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
        }
    }

    @Test
    void shouldAnswerRightlyWhileModelsAreLoadedAnew() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        ModelRepositoryFolder repository = new ModelRepositoryFolder(models);
        repository.simple("m", "", 1);
        try (ServerProcess server = launch(models);
                GatunClient client = GatunClient.connect(lane());
                SharedTensors tensors = SharedTensors.sealed(client, "m").open()) {
            assertThat(server.readyFileExists()).isTrue();
            tensors.set("INPUT1", SimpleModel.RIGHT);
            CompletableFuture<Void> reloads = CompletableFuture.runAsync(() -> {
                for (int version = 2; version <= 4; version++) {
                    addVersion(repository, version);
                    client.models().load("m");
                }
            });
            for (int i = 0; !reloads.isDone() || i < 100; i++) {
                int[] left = SimpleModel.LEFT.clone();
                left[0] = i;
                tensors.set("INPUT0", left);
                tensors.infer();
                assertThat(tensors.ints("OUTPUT0")[0]).isEqualTo(i + SimpleModel.RIGHT[0]);
            }
            reloads.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void addVersion(ModelRepositoryFolder repository, int version) {
        try {
            repository.simple("m", "", version);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldAnswerWhatIsUnderWayWhenTheServerStops() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        new ModelRepositoryFolder(models).delay("slow", 1500);
        try (SharedMemoryObject memory = SharedMemoryObject.sealed(4096);
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(lane()).withRetries(Retries.NONE))) {
            CompletableFuture<InferResponse> answer;
            try (ServerProcess server = launch(models)) {
                assertThat(server.readyFileExists()).isTrue();
                client.regions().register("r", memory.key(), 0, 4096);
                answer = client.inferAsync(slow());
                Await.until("the request to run", () -> isUnderWay(client));
            }
            try (InferResponse response = answer.get(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                assertThat(response.inRegions()).hasSize(1);
            }
        }
    }

    /** A second request to the model's only instance is not answered soon, which its own deadline tells. */
    private static boolean isUnderWay(GatunClient client) {
        try {
            client.infer(InferRequest.to("slow")
                            .inputInRegion("IN", Datatype.INT32, Shape.of(1), "r", 128, 4)
                            .outputInRegion("OUT", "r", 192, 4)
                            .deadline(Duration.ofMillis(20))
                            .build())
                    .close();
            return false;
        } catch (DeadlineException e) {
            return true;
        }
    }
}
