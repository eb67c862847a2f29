// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.RingEntry;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The limits of lanes, and what is refused in them. */
@Timeout(120)
class LaneLimitsIT {
    private static final int INVALID_ARGUMENT = 3;
    private static final int NOT_FOUND = 5;
    private static final int LANES = 127;

    @TempDir
    static Path folder;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    private static Path socket;

    @BeforeAll
    static void start() throws Exception {
        socket = folder.resolve("http");
        server = ServerProcess.launch(
                ServerProcess.exampleModels(), "--allow-client-shm", "--http-unix-socket=" + socket);
        http = new HttpApi(server);
    }

    @Test
    void shouldOpenNoMoreLanesThanItsThreadCanLookAt() throws Exception {
        List<RawLane> lanes = new ArrayList<>();
        try {
            Await.until("the lanes of other tests to end", () -> {
                lanes.forEach(LaneLimitsIT::close);
                lanes.clear();
                try {
                    for (int i = 0; i < LANES; i++) {
                        lanes.add(RawLane.open(socket));
                    }
                    return true;
                } catch (AssertionError e) {
                    return false;
                }
            });
            RawLane last = lanes.getLast();
            assertThat(last.post("413", "/v2/lanes", last.opening()))
                    .contains("there are 127 lanes, as many as the server's threads for them can look at");
            int simple = last.prepareSimple();
            last.fillSimple(0, simple, 0);
            last.infer(0);
            last.assertSimple(0, 0);
            lanes.removeFirst().close();
            Await.until("room for a lane", () -> {
                try {
                    lanes.add(RawLane.open(socket));
                    return true;
                } catch (AssertionError e) {
                    return false;
                }
            });
        } finally {
            lanes.forEach(LaneLimitsIT::close);
        }
    }

    private static void close(RawLane lane) {
        try {
            lane.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldAnswerWhateverCoreACallerNames() throws Exception {
        int[] cores = {1, Integer.MIN_VALUE, -1, 0, 2, 1 << 13, (1 << 13) + 1, Integer.MAX_VALUE};
        try (RawLane lane = RawLane.open(socket);
                RawLane other = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            int others = other.prepareSimple();
            for (int core : cores) {
                for (int i = 0; i < 20; i++) {
                    inferFrom(core, lane, simple);
                }
                inferFrom(cores[0], other, others);
            }
        }
    }

    @Test
    void shouldBindNoThreadButTheOneThatSleepsAtTheLane() throws Exception {
        assertThat(threadsBoundBy(socket, server)).isSubsetOf("Name:\tlane-0");
    }

    @Test
    void shouldBindNoThreadWhereNothingIsLearned() throws Exception {
        Path plain = folder.resolve("plain");
        try (ServerProcess other = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-unix-socket=" + plain,
                "--adaptive=false")) {
            assertThat(threadsBoundBy(plain, other)).isEmpty();
        }
    }

    /** The threads that are bound to some of the server's cores after many requests from one core. */
    private static List<String> threadsBoundBy(Path socket, ServerProcess server) throws IOException {
        Path process = Path.of("/proc", Long.toString(server.handle().pid()));
        String everywhere = field(process, "Cpus_allowed_list:").orElseThrow();
        try (RawLane lane = RawLane.open(socket);
                Stream<Path> threads = Files.list(process.resolve("task"))) {
            int simple = lane.prepareSimple();
            for (int i = 0; i < 200; i++) {
                inferFrom(1 + ThreadCore.allowed().nextSetBit(0), lane, simple);
            }
            return threads.filter(thread -> field(thread, "Cpus_allowed_list:")
                            .filter(cores -> !cores.equals(everywhere))
                            .isPresent())
                    .flatMap(thread -> field(thread, "Name:").stream())
                    .toList();
        }
    }

    private static void inferFrom(int core, RawLane lane, int prepared) {
        lane.fillSimple(0, prepared, 0);
        lane.memory.setInt(lane.memory.slotOffset(0) + SlotLayout.CALLER_CORE, core);
        lane.infer(0);
        lane.assertSimple(0, 0);
    }

    /** A line of a thread's status; empty when it has ended. */
    private static Optional<String> field(Path thread, String name) {
        try (Stream<String> lines = Files.lines(thread.resolve("status"))) {
            return lines.filter(line -> line.startsWith(name)).findFirst();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    @Test
    void shouldRefuseWindowsThatAreNotTheLanes() throws Exception {
        long[][] windows = {{4096, 64}, {4095, 64}, {-1, 64}, {0, -1}, {-64, 64}, {Long.MAX_VALUE, Long.MAX_VALUE}};
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            for (long[] window : windows) {
                for (int tensor : new int[] {0, 2}) {
                    lane.fillSimple(0, simple, 0);
                    lane.tensor(0, tensor, window[0], window[1], 1, 16);
                    lane.infer(0);
                    assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                    assertThat(lane.code(0)).isEqualTo(INVALID_ARGUMENT);
                    assertThat(lane.text(0)).contains("expected it within the lane's 4096 bytes of data");
                }
            }
            lane.fillSimple(0, simple, 0);
            lane.memory.setInt(lane.tensorOffset(0, 0) + SlotLayout.REGION, 1);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("region 1 of the prepared request");
            lane.fillSimple(0, simple, 0);
            lane.memory.setInt(lane.tensorOffset(0, 0) + SlotLayout.RANK, 9);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("'INPUT0' has 9 dimensions: expected 8 at most");
            lane.fillSimple(0, simple, 0);
            lane.memory.setInt(lane.memory.slotOffset(0) + SlotLayout.ID_BYTES, 200);
            lane.memory.setInt(lane.memory.slotOffset(0) + SlotLayout.SEQUENCE_BYTES, 57);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.text(0)).contains("expected at most 256 together");
            lane.fillSimple(0, simple, 0);
            lane.infer(0);
            lane.assertSimple(0, 0);
        }
    }

    @Test
    void shouldForgetDroppedRequests() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            int other = lane.prepareSimple();
            lane.post("200", lane.path("/drop"), "{\"prepared\":" + simple + "}");
            lane.post("200", lane.path("/drop"), "{\"prepared\":" + simple + "}");
            lane.fillSimple(0, simple, 0);
            lane.infer(0);
            lane.await(0);
            assertThat(lane.code(0)).isEqualTo(NOT_FOUND);
            lane.fillSimple(0, other, 0);
            lane.infer(0);
            lane.assertSimple(0, 0);
            // The number of one that was dropped is never given again.
            assertThat(lane.prepareSimple()).isNotEqualTo(simple);
        }
    }

    @Test
    void shouldRefuseWhatTheModelDoesNotHave() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            String path = lane.path("/models/simple/prepare");
            assertThat(lane.post("400", path, RawLane.SIMPLE.replace("INPUT1", "NONE")))
                    .contains("unexpected inference input 'NONE' for model 'simple'");
            assertThat(lane.post("400", path, RawLane.SIMPLE.replace("OUTPUT1", "NONE")))
                    .contains("unexpected inference output 'NONE' for model 'simple'");
            assertThat(lane.post(
                            "400",
                            path,
                            RawLane.SIMPLE.replace("INPUT1\",\"datatype\":\"INT32", "INPUT1\",\"datatype\":\"FP32")))
                    .contains("data-type is 'FP32', but model 'simple' expects 'INT32'");
            assertThat(lane.post("400", path, RawLane.SIMPLE.replace("INPUT1", "INPUT0")))
                    .contains("'INPUT0' is there twice");
            assertThat(lane.post("400", path, "{\"inputs\":7}")).contains("inputs");
            assertThat(lane.post("404", lane.path("/models/none/prepare"), RawLane.SIMPLE))
                    .contains("none");
            assertThat(lane.post("404", "/v2/lanes/lane-0/models/simple/prepare", RawLane.SIMPLE))
                    .contains("there is no such lane");
        }
    }

    @Test
    void shouldKeepToItsLimits() throws Exception {
        try (RawLane lane = RawLane.open(socket, new LaneGeometry(1, 3, 0), "")) {
            assertThat(lane.post("400", lane.path("/models/simple/prepare"), RawLane.SIMPLE))
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
            int simple = right.prepareSimple();
            lane.memory.submit(RingEntry.of(7, RingEntry.INFER, 1));
            Await.until("the end of the lane", () -> {
                right.fillSimple(0, simple, 0);
                right.infer(0);
                right.assertSimple(0, 0);
                return http.post(lane.path("/drop"), "{\"prepared\":0}").statusCode() == 404;
            });
        }
    }
}
