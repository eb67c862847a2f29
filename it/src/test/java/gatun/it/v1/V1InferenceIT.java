// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.it.v1.V1Client.Response;
import gatun.it.v1.V1Header.Window;
import gatun.testing.Await;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Inferences by the legacy v1 API in the real server.process(), by clients that know nothing but its tables. */
@Timeout(120)
class V1InferenceIT {
    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(V1InferenceIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    enum Transport {
        HTTP,
        GRPC;

        V1Client client() {
            return this == HTTP ? new V1Client.Http(http) : new V1Client.Grpc(grpc.channel());
        }
    }

    private static ServerProcess start() throws Exception {
        for (String model : List.of("simple", "simple_string", "digits", "identity_fp32", "running_sum")) {
            copy(ServerProcess.exampleModels().resolve(model), repository.resolve(model));
        }
        ModelRepositoryFolder folder = new ModelRepositoryFolder(repository);
        folder.simple("versions", "version_policy { all { } }", 1, 3);
        folder.simple(
                "queued", "dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 60000000 }", 1);
        folder.simple(
                "hurried",
                "dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 60000000"
                        + " default_queue_policy { default_timeout_microseconds: 60000000 allow_timeout_override: true"
                        + " } }",
                1);
        folder.simple(
                "small",
                "dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 60000000"
                        + " default_queue_policy { max_queue_size: 1 } }",
                1);
        return ServerProcess.launch(repository, "--allow-client-shm");
    }

    private static void copy(Path from, Path to) throws Exception {
        try (var files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            }
        }
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(bytes::putInt);
        return bytes.array();
    }

    private static byte[] floats(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.array();
    }

    private static V1Header simple() {
        return V1Header.batch(1).input("INPUT0", ints(SimpleModel.LEFT)).input("INPUT1", ints(SimpleModel.RIGHT), 16);
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerTheOutputsThatAreListedInTheirOrder(Transport transport) {
        int[] twoLeft = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2
        };
        int[] twoRight = new int[32];
        Response response = transport
                .client()
                .infer(
                        "simple",
                        V1Client.LATEST,
                        V1Header.batch(2)
                                .id(-1)
                                .input("INPUT1", ints(twoRight))
                                .sized("INPUT0", ints(twoLeft), 128, 16)
                                .output("OUTPUT1")
                                .output("OUTPUT0"))
                .succeeded();
        assertThat(response.header().number(5)).as("id").isEqualTo(-1);
        assertThat(response.header().text(1)).isEqualTo("simple");
        assertThat(response.header().number(2)).as("version").isEqualTo(1);
        assertThat(response.header().number(3)).as("batch size").isEqualTo(2);
        List<V1Message> outputs = response.header().messages(4);
        assertThat(outputs).extracting(output -> output.text(1)).containsExactly("OUTPUT1", "OUTPUT0");
        assertThat(outputs).allSatisfy(output -> {
            assertThat(output.message(2).numbers(1))
                    .as("dims without the batch")
                    .containsExactly(16L);
            assertThat(output.message(2).number(2)).as("bytes of the batch").isEqualTo(128);
        });
        assertThat(response.raw()).containsExactly(ints(twoLeft), ints(twoLeft));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerNothingWhereNoOutputIsListed(Transport transport) {
        Response response =
                transport.client().infer("simple", V1Client.LATEST, simple()).succeeded();
        assertThat(response.header().has(4)).isFalse();
        assertThat(response.raw()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldAskTheNamedVersionOrTheLatest(Transport transport) {
        V1Client client = transport.client();
        assertThat(client.infer("versions", 1, simple()).succeeded().header().number(2))
                .isEqualTo(1);
        assertThat(client.infer("versions", V1Client.LATEST, simple())
                        .succeeded()
                        .header()
                        .number(2))
                .isEqualTo(3);
        assertThat(client.infer("versions", 0, simple()).text())
                .as("0 is a version like others")
                .isEqualTo("Request for unknown model: 'versions' version 0 is not found");
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeStringsWhoseSizeOnlyTheClientKnows(Transport transport) {
        String[] left = new String[16];
        Arrays.fill(left, "40");
        String[] right = new String[16];
        Arrays.fill(right, "2");
        byte[] leftBytes = V1Client.strings(left);
        byte[] rightBytes = V1Client.strings(right);
        Response response = transport
                .client()
                .infer(
                        "simple_string",
                        V1Client.LATEST,
                        V1Header.batch(1)
                                .sized("INPUT0", leftBytes, leftBytes.length, 16)
                                .sized("INPUT1", rightBytes, rightBytes.length)
                                .output("OUTPUT0"))
                .succeeded();
        String[] sums = new String[16];
        Arrays.fill(sums, "42");
        assertThat(response.raw()).containsExactly(V1Client.strings(sums));
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeVariableDimensionsOfAModelWithoutBatches(Transport transport) {
        byte[] values = floats(1, 2, 3, 4, 5);
        Response response = transport
                .client()
                .infer(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT0", values, 5).output("OUTPUT0"))
                .succeeded();
        assertThat(response.header().messages(4).getFirst().message(2).numbers(1))
                .containsExactly(5L);
        assertThat(response.raw()).containsExactly(values);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheBestClassesOfEachItemWithTheirLabels(Transport transport) {
        float[] paper = new float[2 * 28 * 28];
        Response response = transport
                .client()
                .infer(
                        "digits",
                        V1Client.LATEST,
                        V1Header.batch(2).input("image", floats(paper)).classes("probabilities", 3))
                .succeeded();
        V1Message output = response.header().messages(4).getFirst();
        assertThat(output.has(2)).as("raw").isFalse();
        List<V1Message> items = output.messages(3);
        assertThat(items).hasSize(2);
        for (V1Message item : items) {
            List<V1Message> classes = item.messages(1);
            assertThat(classes).hasSize(3);
            assertThat(classes)
                    .extracting(one -> one.real(2))
                    .isSortedAccordingTo((a, b) -> Float.compare(b, a))
                    .allMatch(value -> value > 0);
            assertThat(classes).allSatisfy(one -> assertThat(one.text(3)).isEqualTo(label(one.number(1))));
        }
    }

    private static String label(long index) throws Exception {
        return Files.readAllLines(repository.resolve("digits/labels.txt")).get((int) index);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellClassesWithoutLabelsAndNoMoreThanThereAre(Transport transport) {
        Response response = transport
                .client()
                .infer("simple", V1Client.LATEST, simple().output("OUTPUT1").classes("OUTPUT0", 17))
                .succeeded();
        List<V1Message> classes =
                response.header().messages(4).get(1).messages(3).getFirst().messages(1);
        assertThat(classes).hasSize(16);
        assertThat(classes.getFirst().number(1)).isEqualTo(15);
        assertThat(classes.getFirst().real(2)).isEqualTo(16 + 116);
        assertThat(classes.getFirst().has(3)).isFalse();
        assertThat(response.raw().getFirst()).isEqualTo(ints(SimpleModel.DIFFERENCE));
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadInputsFromSharedMemoryAndWriteOutputsThere(Transport transport) throws Exception {
        try (SharedObject object = SharedObject.create(4096)) {
            object.write(0, ints(SimpleModel.LEFT));
            object.write(64, ints(SimpleModel.RIGHT));
            String region = "v1-" + transport;
            assertThat(http.post("/api/sharedmemorycontrol/register/" + region + "/" + object.key() + "/0/4096", "")
                            .statusCode())
                    .isEqualTo(200);
            Response response = transport
                    .client()
                    .infer(
                            "simple",
                            V1Client.LATEST,
                            V1Header.batch(1)
                                    .input("INPUT0", new Window(region, 0, 64))
                                    .input("INPUT1", new Window(region, 64, 64), 16)
                                    .output("OUTPUT0", new Window(region, 1024, 64))
                                    .output("OUTPUT1", new Window(region, 2048, 100)))
                    .succeeded();
            assertThat(response.raw()).allSatisfy(raw -> assertThat(raw).isEmpty());
            assertThat(response.header().messages(4))
                    .hasSize(2)
                    .allSatisfy(output ->
                            assertThat(output.message(2).number(2)).as("bytes").isEqualTo(64));
            assertThat(object.read(1024, 64).array()).isEqualTo(ints(SimpleModel.SUM));
            assertThat(object.read(2048, 64).array()).isEqualTo(ints(SimpleModel.DIFFERENCE));
            assertThat(http.post("/api/sharedmemorycontrol/unregister/" + region, "")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheStateOfSequencesBetweenRequests(Transport transport) {
        V1Client client = transport.client();
        long sequence = transport == Transport.HTTP ? 77 : 78;
        int sum = 0;
        for (int step = 1; step <= 4; step++) {
            sum += step;
            int flags = (step == 1 ? 1 : 0) | (step == 4 ? 2 : 0);
            Response response = client.infer(
                            "running_sum",
                            V1Client.LATEST,
                            step(step).sequence(sequence).flags(flags))
                    .succeeded();
            assertThat(response.raw()).containsExactly(ints(sum));
        }
        assertThat(client.infer("running_sum", V1Client.LATEST, step(1).sequence(sequence))
                        .text())
                .isEqualTo("inference request for sequence " + sequence
                        + " to model 'running_sum' must specify the START flag on the first request of the sequence");
        Response alone = client.infer(
                "running_sum", V1Client.LATEST, step(9).sequence(-5).flags(3));
        assertThat(alone.succeeded().raw()).as("first and last").containsExactly(ints(9));
    }

    private static V1Header step(int value) {
        return V1Header.batch(1).input("INPUT", ints(value)).output("OUTPUT");
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveUpWhatWaitsLongerThanItsTimeout(Transport transport) {
        Response response = transport.client().infer("hurried", V1Client.LATEST, simple().timeoutMicros(50_000));
        assertThat(response.code()).isEqualTo("UNAVAILABLE");
        assertThat(response.text()).isEqualTo("Request timeout expired");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAtOnceWhatTheQueueCannotHold(Transport transport) throws Exception {
        // It waits for others to share its batch with, until its client gives up.
        Thread waiting = Thread.ofPlatform().daemon().unstarted(() -> assertThatThrownBy(
                        () -> Transport.GRPC.client().infer("small", V1Client.LATEST, simple()))
                .hasMessageContaining("CANCELLED"));
        waiting.start();
        awaitWaiting("small", 1);
        Response response = transport.client().infer("small", V1Client.LATEST, simple());
        assertThat(response.code()).isEqualTo("UNAVAILABLE");
        assertThat(response.text()).isEqualTo("Exceeds maximum queue size");
        waiting.interrupt();
        awaitWaiting("small", 0);
        assertThat(waiting.join(Duration.ofSeconds(20))).isTrue();
    }

    private static void awaitWaiting(String model, int count) {
        String metric = "nv_inference_pending_request_count{model=\"" + model + "\"";
        Await.until(count + " waiting requests", () -> http.metric(metric) == count);
    }

    @ParameterizedTest
    @EnumSource
    void shouldJoinRequestsOfV1AndV2InOneBatch(Transport transport) throws Exception {
        List<CompletableFuture<Response>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(CompletableFuture.supplyAsync(
                    () -> transport.client().infer("queued", 1, simple().output("OUTPUT0")),
                    task -> Thread.ofVirtual().start(task)));
        }
        assertThat(http.post("/v2/models/queued/infer", SimpleModel.json()).statusCode())
                .isEqualTo(200);
        for (CompletableFuture<Response> response : waiting) {
            assertThat(response.get(20, TimeUnit.SECONDS).succeeded().raw()).containsExactly(ints(SimpleModel.SUM));
        }
    }
}
