// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Requests in a lane, word by word, against the real server. */
@Timeout(120)
class LaneIT {
    private static final String REPEAT =
            "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\"},{\"name\":\"DELAY\",\"datatype\":\"UINT32\"},"
                    + "{\"name\":\"WAIT\",\"datatype\":\"UINT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}";

    private static final String STRINGS =
            "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"BYTES\"},{\"name\":\"INPUT1\",\"datatype\":\"BYTES\"}],"
                    + "\"outputs\":[{\"name\":\"OUTPUT0\"}]}";

    private static final int OK = 0;
    private static final int CANCELLED = 1;
    private static final int INVALID_ARGUMENT = 3;
    private static final int DEADLINE_EXCEEDED = 4;

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(LaneIT::start);

    private static final HttpApi http = server.http();

    private static Path socket;

    private static ServerProcess start() throws Exception {
        socket = folder.resolve("http");
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-unix-socket=" + socket,
                "--metrics-config=histogram_latencies=true",
                "--trace-config=triton,file=" + folder.resolve("traces"),
                "--trace-config=level=TIMESTAMPS",
                "--trace-config=rate=1");
    }

    @AfterEach
    void shouldHaveLeftNothing() {
        Await.until("buffers to come back", () -> http.metric("gatun_buffer_pool_used_bytes") == 0);
    }

    @Test
    void shouldInferInTheLanesOwnMemoryAsOftenAsOneLikes() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            for (int i = 0; i < 300; i++) {
                int slot = i % 4;
                lane.fillSimple(slot, simple, 256L * slot);
                lane.infer(slot);
                lane.assertSimple(slot, 256L * slot);
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
            int simple = lane.prepareSimple();
            for (int slot = 0; slot < 4; slot++) {
                lane.fillSimple(slot, simple, 256L * slot);
            }
            for (int slot = 0; slot < 4; slot++) {
                lane.infer(slot);
            }
            for (int slot = 0; slot < 4; slot++) {
                lane.assertSimple(slot, 256L * slot);
            }
        }
    }

    @Test
    void shouldCountLanesInStatisticsMetricsAndTraces() throws Exception {
        String statistics = http.get("/v2/models/simple/stats").body();
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            lane.fillSimple(0, simple, 0);
            lane.infer(0);
            lane.assertSimple(0, 0);
        }
        assertThat(http.get("/v2/models/simple/stats").body()).isNotEqualTo(statistics);
        assertThat(http.send(HttpRequest.newBuilder(server.process().metrics()), HttpResponse.BodyHandlers.ofString())
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
            int repeat = lane.prepare("repeat_int32", REPEAT);
            lane.set(0, 7, 8, 9);
            lane.set(64, 0, 0, 0);
            lane.set(128, 0);
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
            int repeat = lane.prepare("repeat_int32", REPEAT);
            lane.set(0, 7, 8, 9);
            lane.set(64, 0, 0, 0);
            lane.set(128, 0);
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
                    lane.set(0, 5);
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
    void shouldCarryStrings() throws Exception {
        byte[] elements = "\2\0\0\00040".repeat(16).getBytes(StandardCharsets.ISO_8859_1);
        try (RawLane lane = RawLane.open(socket)) {
            int strings = lane.prepare("simple_string", STRINGS);
            MemorySegment.copy(elements, 0, lane.data(), ValueLayout.JAVA_BYTE, 0, elements.length);
            lane.request(0, strings);
            lane.tensor(0, 0, 0, elements.length, 1, 16);
            lane.tensor(0, 1, 0, elements.length, 1, 16);
            lane.tensor(0, 2, 512, 1024);
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).as(lane.text(0)).isEqualTo(OK);
            byte[] sums = lane.data().asSlice(512, lane.written(0, 2)).toArray(ValueLayout.JAVA_BYTE);
            assertThat(new String(sums, StandardCharsets.ISO_8859_1)).isEqualTo("\2\0\0\00080".repeat(16));
            // A length beyond the end.
            lane.set(0, Integer.MAX_VALUE);
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).isEqualTo(INVALID_ARGUMENT);
        }
    }

    @Test
    void shouldEndRequestsWithTheirDeadline() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int repeat = lane.prepare("repeat_int32", REPEAT);
            lane.set(0, 7);
            lane.set(64, 600_000);
            lane.set(128, 0);
            lane.request(0, repeat);
            lane.tensor(0, 0, 0, 4, 1);
            lane.tensor(0, 1, 64, 4, 1);
            lane.tensor(0, 2, 128, 4, 1);
            lane.tensor(0, 3, 192, 4);
            lane.memory.setLong(lane.memory.slotOffset(0) + SlotLayout.DEADLINE, System.nanoTime() + 20_000_000);
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).isEqualTo(DEADLINE_EXCEEDED);
            int simple = lane.prepareSimple();
            lane.fillSimple(1, simple, 256);
            lane.memory.setLong(lane.memory.slotOffset(1) + SlotLayout.DEADLINE, System.nanoTime() - 1);
            lane.infer(1);
            assertThat(lane.await(1)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(1)).isEqualTo(DEADLINE_EXCEEDED);
        }
    }
}
