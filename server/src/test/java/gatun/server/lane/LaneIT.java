// SPDX-License-Identifier: Apache-2.0
package gatun.server.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.lane.LaneGeometry;
import gatun.lane.RingEntry;
import gatun.lane.SlotLayout;
import gatun.lane.SlotState;
import gatun.server.harness.HttpApi;
import gatun.server.harness.ServerProcess;
import gatun.server.harness.SimpleModel;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests in a lane, word by word, against the real server. */
@Timeout(120)
class LaneIT {
    private static final String SIMPLE = "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"},"
            + "{\"name\":\"INPUT1\",\"datatype\":\"INT32\"}],"
            + "\"outputs\":[{\"name\":\"OUTPUT0\"},{\"name\":\"OUTPUT1\"}]}";

    private static final int OK = 0;
    private static final int CANCELLED = 1;
    private static final int INVALID_ARGUMENT = 3;
    private static final int DEADLINE_EXCEEDED = 4;
    private static final int NOT_FOUND = 5;

    @TempDir
    static Path folder;

    private static ServerProcess server;
    private static HttpApi http;
    private static Path socket;

    @BeforeAll
    static void start() throws Exception {
        socket = folder.resolve("http");
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-unix-socket=" + socket,
                "--metrics-config=histogram_latencies=true",
                "--trace-config=triton,file=" + folder.resolve("traces"),
                "--trace-config=level=TIMESTAMPS",
                "--trace-config=rate=1");
        http = new HttpApi(server);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            http.close();
            server.close();
        }
    }

    @AfterEach
    void shouldHaveLeftNothing() {
        Await.until("buffers to come back", () -> http.metric("nv_pinned_memory_pool_used_bytes") == 0);
    }

    private static void fillSimple(RawLane lane, int slot, int prepared, long base) {
        lane.ints(base, SimpleModel.LEFT);
        lane.ints(base + 64, SimpleModel.RIGHT);
        lane.request(slot, prepared);
        lane.tensor(slot, 0, base, 64, 1, 16);
        lane.tensor(slot, 1, base + 64, 64, 1, 16);
        lane.tensor(slot, 2, base + 128, 64);
        lane.tensor(slot, 3, base + 192, 64);
    }

    private static void assertSimple(RawLane lane, int slot, long base) {
        assertThat(lane.await(slot)).isEqualTo(SlotState.DONE);
        assertThat(lane.code(slot)).as(lane.text(slot)).isEqualTo(OK);
        assertThat(lane.ints(base + 128, 16)).isEqualTo(SimpleModel.SUM);
        assertThat(lane.ints(base + 192, 16)).isEqualTo(SimpleModel.DIFFERENCE);
        assertThat(lane.written(slot, 2)).isEqualTo(64);
    }

    @Test
    void shouldInferInTheLanesOwnMemoryAsOftenAsOneLikes() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepare("simple", SIMPLE);
            for (int i = 0; i < 300; i++) {
                int slot = i % 4;
                fillSimple(lane, slot, simple, 256L * slot);
                lane.infer(slot);
                assertSimple(lane, slot, 256L * slot);
                lane.data().fill((byte) 0);
            }
            long slot = lane.memory.slotOffset(3);
            assertThat(lane.memory.getLong(slot + SlotLayout.VERSION)).isEqualTo(1);
            assertThat(lane.memory.getLong(slot + SlotLayout.SERVER_NANOS))
                    .isGreaterThan(lane.memory.getLong(slot + SlotLayout.ENGINE_NANOS))
                    .isPositive();
        }
    }

    @Test
    void shouldAnswerAllSlotsThatAreUnderWay() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepare("simple", SIMPLE);
            for (int slot = 0; slot < 4; slot++) {
                fillSimple(lane, slot, simple, 256L * slot);
            }
            for (int slot = 0; slot < 4; slot++) {
                lane.infer(slot);
            }
            for (int slot = 0; slot < 4; slot++) {
                assertSimple(lane, slot, 256L * slot);
            }
        }
    }

    @Test
    void shouldCountLanesInStatisticsMetricsAndTraces() throws Exception {
        String statistics = http.get("/v2/models/simple/stats").body();
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepare("simple", SIMPLE);
            fillSimple(lane, 0, simple, 0);
            lane.infer(0);
            assertSimple(lane, 0, 0);
        }
        assertThat(http.get("/v2/models/simple/stats").body()).isNotEqualTo(statistics);
        assertThat(http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                        .body())
                .contains("transport=\"lane\"");
        Await.until("the trace", LaneIT::hasTrace);
    }

    private static boolean hasTrace() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith("traces")
                        && Files.readString(file).contains("\"model_name\":\"simple\"")) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void shouldAnswerOneSlotManyTimes() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int repeat = lane.prepare(
                    "repeat_int32",
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\"},{\"name\":\"DELAY\",\"datatype\":\"UINT32\"},"
                            + "{\"name\":\"WAIT\",\"datatype\":\"UINT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}");
            lane.ints(0, 7, 8, 9);
            lane.ints(64, 0, 0, 0);
            lane.ints(128, 0);
            lane.request(0, repeat);
            lane.tensor(0, 0, 0, 12, 3);
            lane.tensor(0, 1, 64, 12, 3);
            lane.tensor(0, 2, 128, 4, 1);
            lane.tensor(0, 3, 192, 4);
            lane.infer(0);
            for (int expected = 7; expected <= 9; expected++) {
                int state = lane.await(0);
                assertThat(lane.code(0)).as(lane.text(0)).isEqualTo(OK);
                assertThat(lane.ints(192, 1)).containsExactly(expected);
                if (state == SlotState.DONE) {
                    assertThat(expected).isEqualTo(9);
                    return;
                }
                assertThat(state).isEqualTo(SlotState.MORE);
                lane.proceed(0);
            }
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.memory.getInt(lane.memory.slotOffset(0) + SlotLayout.OUTPUTS))
                    .isZero();
        }
    }

    @Test
    void shouldGiveUpAModelThatAnswersManyTimes() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int repeat = lane.prepare(
                    "repeat_int32",
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\"},{\"name\":\"DELAY\",\"datatype\":\"UINT32\"},"
                            + "{\"name\":\"WAIT\",\"datatype\":\"UINT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}");
            lane.ints(0, 7, 8, 9);
            lane.ints(64, 0, 0, 0);
            lane.ints(128, 0);
            lane.request(0, repeat);
            lane.tensor(0, 0, 0, 12, 3);
            lane.tensor(0, 1, 64, 12, 3);
            lane.tensor(0, 2, 128, 4, 1);
            lane.tensor(0, 3, 192, 4);
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.MORE);
            lane.memory.state(0, SlotState.FILLED);
            lane.cancel(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).isEqualTo(CANCELLED);
        }
    }

    @Test
    void shouldCarrySequencesByNumberAndByName() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int sum = lane.prepare(
                    "running_sum",
                    "{\"inputs\":[{\"name\":\"INPUT\",\"datatype\":\"INT32\"}],\"outputs\":[{\"name\":\"OUTPUT\"}]}");
            for (boolean named : new boolean[] {false, true}) {
                for (int step = 0; step < 3; step++) {
                    lane.ints(0, 5);
                    lane.request(0, sum);
                    lane.tensor(0, 0, 0, 4, 1, 1);
                    lane.tensor(0, 1, 64, 4);
                    long at = lane.memory.slotOffset(0);
                    int flags = (step == 0 ? SlotLayout.SEQUENCE_START : 0) | (step == 2 ? SlotLayout.SEQUENCE_END : 0);
                    if (named) {
                        byte[] text = "idéa-42".getBytes(StandardCharsets.UTF_8);
                        lane.memory.setInt(at + SlotLayout.ID_BYTES, 2);
                        lane.memory.setInt(at + SlotLayout.SEQUENCE_BYTES, text.length - 2);
                        lane.memory.setBytes(at + SlotLayout.REQUEST_TEXT, text, text.length);
                        flags |= SlotLayout.SEQUENCE_TEXT;
                    } else {
                        lane.memory.setLong(at + SlotLayout.SEQUENCE, 4711);
                    }
                    lane.memory.setInt(at + SlotLayout.FLAGS, flags);
                    lane.infer(0);
                    assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                    assertThat(lane.code(0)).as(lane.text(0)).isEqualTo(OK);
                    assertThat(lane.ints(64, 1)).containsExactly(5 * (step + 1));
                }
            }
        }
    }

    @Test
    void shouldClassify() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int best = lane.prepare(
                    "identity_fp32",
                    "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\"}],"
                            + "\"outputs\":[{\"name\":\"OUTPUT0\",\"parameters\":{\"classification\":2}}]}");
            lane.data().setAtIndex(ValueLayout.JAVA_FLOAT, 0, 1f);
            lane.data().setAtIndex(ValueLayout.JAVA_FLOAT, 1, 3f);
            lane.data().setAtIndex(ValueLayout.JAVA_FLOAT, 2, 2f);
            lane.request(1, best);
            lane.tensor(1, 0, 0, 12, 3);
            lane.tensor(1, 1, 64, 256);
            lane.infer(1);
            assertThat(lane.await(1)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(1)).as(lane.text(1)).isEqualTo(OK);
            byte[] classes = lane.data().asSlice(64, lane.written(1, 1)).toArray(ValueLayout.JAVA_BYTE);
            assertThat(new String(classes, StandardCharsets.ISO_8859_1))
                    .contains("3.000000:1")
                    .contains("2.000000:2")
                    .doesNotContain("1.000000:0");
            // Too little room is an error of this request only.
            lane.tensor(1, 1, 64, 8);
            lane.infer(1);
            assertThat(lane.await(1)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(1)).isEqualTo(INVALID_ARGUMENT);
            assertThat(lane.text(1)).contains("OUTPUT0").contains("its room in shared memory is 8");
        }
    }

    @Test
    void shouldTakeAnyShapeThatTheModelTakes() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int identity = lane.prepare(
                    "identity_fp32",
                    "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\"}],\"outputs\":[{\"name\":\"OUTPUT0\"}]}");
            for (int count : new int[] {3, 17, 1, 200}) {
                lane.data().setAtIndex(ValueLayout.JAVA_FLOAT, count - 1, count);
                lane.request(0, identity);
                lane.tensor(0, 0, 0, 4L * count, count);
                lane.tensor(0, 1, 1024, 1024);
                lane.infer(0);
                assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                assertThat(lane.code(0)).as(lane.text(0)).isEqualTo(OK);
                assertThat(lane.written(0, 1)).isEqualTo(4L * count);
                long tensor = lane.tensorOffset(0, 1);
                assertThat(lane.memory.getInt(tensor + SlotLayout.RANK)).isOne();
                assertThat(lane.memory.getLong(tensor + SlotLayout.DIMS)).isEqualTo(count);
                assertThat(lane.data().asSlice(1024).getAtIndex(ValueLayout.JAVA_FLOAT, count - 1))
                        .isEqualTo(count);
            }
        }
    }

    @Test
    void shouldEndRequestsWithTheirDeadline() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int repeat = lane.prepare(
                    "repeat_int32",
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\"},{\"name\":\"DELAY\",\"datatype\":\"UINT32\"},"
                            + "{\"name\":\"WAIT\",\"datatype\":\"UINT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}");
            lane.ints(0, 7);
            lane.ints(64, 600_000);
            lane.ints(128, 0);
            lane.request(0, repeat);
            lane.tensor(0, 0, 0, 4, 1);
            lane.tensor(0, 1, 64, 4, 1);
            lane.tensor(0, 2, 128, 4, 1);
            lane.tensor(0, 3, 192, 4);
            lane.memory.setLong(lane.memory.slotOffset(0) + SlotLayout.DEADLINE, System.nanoTime() + 20_000_000);
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).isEqualTo(DEADLINE_EXCEEDED);
            int simple = lane.prepare("simple", SIMPLE);
            fillSimple(lane, 1, simple, 256);
            lane.memory.setLong(lane.memory.slotOffset(1) + SlotLayout.DEADLINE, System.nanoTime() - 1);
            lane.infer(1);
            assertThat(lane.await(1)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(1)).isEqualTo(DEADLINE_EXCEEDED);
        }
    }

    @Test
    void shouldRefuseWindowsThatAreNotTheLanes() throws Exception {
        long[][] windows = {{4096, 64}, {4095, 64}, {-1, 64}, {0, -1}, {-64, 64}, {Long.MAX_VALUE, Long.MAX_VALUE}};
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepare("simple", SIMPLE);
            for (long[] window : windows) {
                for (int tensor : new int[] {0, 2}) {
                    fillSimple(lane, 0, simple, 0);
                    lane.tensor(0, tensor, window[0], window[1], 1, 16);
                    lane.infer(0);
                    assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                    assertThat(lane.code(0)).isEqualTo(INVALID_ARGUMENT);
                    assertThat(lane.text(0)).contains("expected it within the lane's 4096 bytes of data");
                }
            }
            fillSimple(lane, 0, simple, 0);
            lane.memory.setInt(lane.tensorOffset(0, 0) + SlotLayout.REGION, 1);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("region 1 of the prepared request");
            fillSimple(lane, 0, simple, 0);
            lane.memory.setInt(lane.tensorOffset(0, 0) + SlotLayout.RANK, 9);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("'INPUT0' has 9 dimensions: expected 8 at most");
            fillSimple(lane, 0, simple, 0);
            lane.memory.setInt(lane.memory.slotOffset(0) + SlotLayout.ID_BYTES, 200);
            lane.memory.setInt(lane.memory.slotOffset(0) + SlotLayout.SEQUENCE_BYTES, 57);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("expected at most 256 together");
            fillSimple(lane, 0, simple, 0);
            lane.infer(0);
            assertSimple(lane, 0, 0);
        }
    }

    @Test
    void shouldForgetDroppedRequests() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepare("simple", SIMPLE);
            int other = lane.prepare("simple", SIMPLE);
            lane.post("200", lane.path("/drop"), "{\"prepared\":" + simple + "}");
            lane.post("200", lane.path("/drop"), "{\"prepared\":" + simple + "}");
            fillSimple(lane, 0, simple, 0);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.code(0)).isEqualTo(NOT_FOUND);
            fillSimple(lane, 0, other, 0);
            lane.infer(0);
            assertSimple(lane, 0, 0);
            // The number of one that was dropped is never given again.
            assertThat(lane.prepare("simple", SIMPLE)).isNotEqualTo(simple);
        }
    }

    @Test
    void shouldRefuseWhatTheModelDoesNotHave() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            String path = lane.path("/models/simple/prepare");
            assertThat(lane.post("400", path, SIMPLE.replace("INPUT1", "NONE")))
                    .contains("unexpected inference input 'NONE' for model 'simple'");
            assertThat(lane.post("400", path, SIMPLE.replace("OUTPUT1", "NONE")))
                    .contains("unexpected inference output 'NONE' for model 'simple'");
            assertThat(lane.post(
                            "400",
                            path,
                            SIMPLE.replace("INPUT1\",\"datatype\":\"INT32", "INPUT1\",\"datatype\":\"FP32")))
                    .contains("data-type is 'FP32', but model 'simple' expects 'INT32'");
            assertThat(lane.post("400", path, SIMPLE.replace("INPUT1", "INPUT0")))
                    .contains("'INPUT0' is there twice");
            assertThat(lane.post("400", path, "{\"inputs\":7}")).contains("inputs");
            assertThat(lane.post("404", lane.path("/models/none/prepare"), SIMPLE))
                    .contains("none");
            assertThat(lane.post("404", "/v2/lanes/lane-0/models/simple/prepare", SIMPLE))
                    .contains("there is no such lane");
        }
    }

    @Test
    void shouldKeepToItsLimits() throws Exception {
        try (RawLane lane = RawLane.open(socket, new LaneGeometry(1, 3, 0), "")) {
            assertThat(lane.post("400", lane.path("/models/simple/prepare"), SIMPLE))
                    .contains("the request has 4 inputs and outputs, and each slot of the lane has room for 3");
            String one =
                    "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"}],\"outputs\":[{\"name\":\"OUTPUT0\"}]}";
            for (int i = 0; i < 256; i++) {
                lane.prepare("simple", one);
            }
            assertThat(lane.post("413", lane.path("/models/simple/prepare"), one))
                    .contains("256 prepared requests");
            assertThat(lane.post("400", "/v2/lanes", lane.opening())).contains("has a lane already");
            String key = lane.opening().replaceAll(".*\"key\":\"([^\"]+)\".*", "$1");
            for (String wrong : new String[] {
                "\"slots\":3",
                "\"slots\":0",
                "\"slots\":512",
                "\"tensors\":0",
                "\"tensors\":65",
                "\"data_byte_size\":-1",
                "\"data_byte_size\":1099511627777",
                "\"data_byte_size\":4096",
                "\"slots\":18446744073709551615"
            }) {
                lane.post("400", "/v2/lanes", "{\"key\":\"" + key + "\"," + wrong + "}");
            }
            assertThat(lane.post("400", "/v2/lanes", "{\"key\":\"/gatun-none\"}"))
                    .contains("memfd");
            assertThat(lane.post("400", "/v2/lanes", "{}")).contains("no 'key' field");
        }
    }

    @Test
    void shouldEndALaneWhoseClientWritesNonsense() throws Exception {
        try (RawLane lane = RawLane.open(socket);
                RawLane right = RawLane.open(socket)) {
            int simple = right.prepare("simple", SIMPLE);
            lane.memory.submit(RingEntry.of(7, RingEntry.INFER, 1));
            Await.until("the end of the lane", () -> {
                fillSimple(right, 0, simple, 0);
                right.infer(0);
                assertSimple(right, 0, 0);
                return http.post(lane.path("/drop"), "{\"prepared\":0}").statusCode() == 404;
            });
        }
    }
}
