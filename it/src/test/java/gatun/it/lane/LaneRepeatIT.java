// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.memory.regions.SharedMemoryObject;
import gatun.testing.Await;
import gatun.testing.Python;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Slots that are filled as before, whose requests the server asks again instead of making new ones. */
@Timeout(120)
class LaneRepeatIT {
    private static final int DEADLINE_EXCEEDED = 4;
    private static final int NOT_FOUND = 5;

    /** So many that the server has found that they are short, and repeats the last. */
    private static final int MANY = 50;

    private static final long SECOND = 1_000_000_000;

    private static final String IDENTITY = "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"}],"
            + "\"outputs\":[{\"name\":\"OUTPUT0\"}],\"regions\":[\"repeated\"]}";

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(LaneRepeatIT::start);

    private static final HttpApi http = server.http();

    private static Path socket;

    private static ServerProcess start() throws Exception {
        socket = folder.resolve("http");
        Path models = Files.createDirectories(folder.resolve("models"));
        new ModelRepositoryFolder(models).simple("simple", "", 1);
        writeModel(
                models,
                "identity",
                "backend: \"identity\"\n" + tensor("input", "INPUT0") + tensor("output", "OUTPUT0"));
        writeModel(models, "patient", "backend: \"python\"\n" + tensor("input", "WAIT") + tensor("output", "OUT"));
        Files.writeString(Files.createDirectories(models.resolve("patient/1")).resolve("model.py"), """
                import time
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        return [self.answer(request) for request in requests]

                    def answer(self, request):
                        wait = pb_utils.get_input_tensor_by_name(request, "WAIT").as_numpy()
                        while wait[0]:
                            time.sleep(0.01)
                            if request.is_cancelled():
                                error = pb_utils.TritonError("given up", pb_utils.TritonError.CANCELLED)
                                return pb_utils.InferenceResponse(error=error)
                        return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", wait)])
                """);
        writeModel(
                models,
                "shared",
                "backend: \"python\"\nmax_batch_size: 8\ndynamic_batching {}\n"
                        + "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
                        + tensor("input", "IN") + tensor("output", "OUT"));
        Files.writeString(Files.createDirectories(models.resolve("shared/1")).resolve("model.py"), """
                import time
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        time.sleep(0.0003)
                        return [self.answer(request) for request in requests]

                    def answer(self, request):
                        values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
                        return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", values)])
                """);
        return ServerProcess.launch(
                models,
                "--allow-client-shm",
                "--http-unix-socket=" + socket,
                "--backend-config=python,executable=" + Python.with("numpy"));
    }

    private static void writeModel(Path models, String name, String configuration) throws IOException {
        Files.createDirectories(models.resolve(name).resolve("1"));
        Files.writeString(models.resolve(name).resolve("config.pbtxt"), configuration);
    }

    private static String tensor(String kind, String name) {
        return kind + " { name: \"" + name + "\" data_type: TYPE_INT32 dims: [-1] }\n";
    }

    @AfterEach
    void shouldHaveLeftNothing() {
        Await.until("buffers to come back", () -> http.metric("gatun_buffer_pool_used_bytes") == 0);
    }

    @Test
    void shouldReadAndWriteTheMemoryAnewEachTime() throws Exception {
        double before = http.metric("nv_inference_request_success{model=\"simple\"");
        try (RawLane lane = RawLane.open(socket)) {
            int simple = lane.prepareSimple();
            lane.fillSimple(0, simple, 0);
            for (int i = 0; i < MANY; i++) {
                lane.set(0, i);
                lane.infer(0);
                assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                assertThat(lane.code(0)).as(lane.text(0)).isZero();
                assertThat(lane.ints(128, 1)).containsExactly(i + SimpleModel.RIGHT[0]);
                lane.data().asSlice(128, 128).fill((byte) -1);
            }
        }
        assertThat(http.metric("nv_inference_request_success{model=\"simple\"") - before)
                .isEqualTo(MANY);
    }

    @Test
    void shouldTakeOtherShapesAndWindowsInBetween() throws Exception {
        try (RawLane lane = RawLane.open(socket)) {
            int identity = lane.prepare("identity", IDENTITY);
            for (int i = 0; i < 4 * MANY; i++) {
                int count = 1 + i / 5 % 3;
                long target = 1024L + 256L * (i / 20 % 2);
                lane.set(0, i, i + 1, i + 2);
                lane.request(0, identity);
                lane.tensor(0, 0, 0, 4L * count, count);
                lane.tensor(0, 1, target, 64);
                lane.infer(0);
                assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                assertThat(lane.code(0)).as(lane.text(0)).isZero();
                assertThat(lane.written(0, 1)).isEqualTo(4L * count);
                assertThat(lane.ints(target, count)).isEqualTo(lane.ints(0, count));
            }
        }
    }

    @Test
    void shouldNotUseARegionAnyMoreThatWasTakenAway() throws Exception {
        try (RawLane lane = RawLane.open(socket);
                SharedMemoryObject first = SharedMemoryObject.sealed(4096);
                SharedMemoryObject second = SharedMemoryObject.sealed(4096)) {
            register(lane, first);
            int identity = lane.prepare("identity", IDENTITY);
            lane.request(0, identity);
            for (int tensor = 0; tensor < 2; tensor++) {
                lane.tensor(0, tensor, 64L * tensor, 4, 1);
                lane.memory.setInt(lane.tensorOffset(0, tensor) + SlotLayout.REGION, 1);
            }
            for (int i = 0; i < MANY; i++) {
                inferInRegion(lane, first.segment(), i);
            }
            lane.post("200", "/v2/systemsharedmemory/region/repeated/unregister", "");
            lane.infer(0);
            assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
            assertThat(lane.code(0)).isEqualTo(NOT_FOUND);
            assertThat(lane.text(0)).contains("repeated");

            register(lane, second);
            for (int i = 0; i < MANY; i++) {
                inferInRegion(lane, second.segment(), 1000 + i);
            }
            assertThat(first.segment().getAtIndex(ValueLayout.JAVA_INT, 16)).isEqualTo(MANY - 1);
            lane.post("200", "/v2/systemsharedmemory/region/repeated/unregister", "");
        }
    }

    private static void register(RawLane lane, SharedMemoryObject object) throws IOException {
        lane.post(
                "200",
                "/v2/systemsharedmemory/region/repeated/register",
                "{\"key\":\"" + object.key() + "\",\"byte_size\":4096}");
    }

    private static void inferInRegion(RawLane lane, MemorySegment region, int value) {
        region.setAtIndex(ValueLayout.JAVA_INT, 0, value);
        lane.infer(0);
        assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
        assertThat(lane.code(0)).as(lane.text(0)).isZero();
        assertThat(region.getAtIndex(ValueLayout.JAVA_INT, 16)).isEqualTo(value);
    }

    /** A run that was to be short, and holds the lane's thread up; the deadline is over before or after that is noticed. */
    @Test
    void shouldEndARunByItsOwnDeadlineAndNoOther() throws Exception {
        try (RawLane lane = RawLane.open(socket);
                RawLane other = RawLane.open(socket)) {
            int patient = lane.prepare(
                    "patient",
                    "{\"inputs\":[{\"name\":\"WAIT\",\"datatype\":\"INT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}");
            int simple = other.prepareSimple();
            for (long limit : new long[] {SECOND / 1000, SECOND / 5}) {
                for (int i = 0; i < MANY; i++) {
                    inferPatiently(lane, patient, 0, 60 * SECOND);
                    assertThat(lane.code(0)).as(lane.text(0)).isZero();
                }
                inferPatiently(lane, patient, 1, limit);
                assertThat(lane.code(0)).isEqualTo(DEADLINE_EXCEEDED);
                other.fillSimple(0, simple, 0);
                other.infer(0);
                other.assertSimple(0, 0);
            }
            inferPatiently(lane, patient, 0, 60 * SECOND);
            assertThat(lane.code(0)).as(lane.text(0)).isZero();
        }
    }

    private static void inferPatiently(RawLane lane, int patient, int wait, long limitNanos) {
        lane.set(0, wait);
        lane.request(0, patient);
        lane.tensor(0, 0, 0, 4, 1);
        lane.tensor(0, 1, 64, 4);
        lane.memory.setLong(lane.memory.slotOffset(0) + SlotLayout.DEADLINE, System.nanoTime() + limitNanos);
        lane.infer(0);
        assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
    }

    /** Their thread would run one after the other, if each lane's own requests were all that it looks at. */
    @Test
    void shouldShareRunsAmongLanesThatAskTogether() throws Exception {
        try (ExecutorService callers = Executors.newFixedThreadPool(4)) {
            List<Future<Void>> all = callers.invokeAll(Collections.nCopies(4, LaneRepeatIT::askShared));
            for (Future<Void> one : all) {
                one.get();
            }
        }
        double requests = http.metric("nv_inference_count{model=\"shared\"");
        double runs = http.metric("nv_inference_exec_count{model=\"shared\"");
        assertThat(requests).isEqualTo(4 * 500);
        assertThat(runs).isLessThan(0.8 * requests);
    }

    private static @Nullable Void askShared() throws IOException {
        try (RawLane lane = RawLane.open(socket)) {
            int shared = lane.prepare(
                    "shared",
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\"}],\"outputs\":[{\"name\":\"OUT\"}]}");
            for (int i = 0; i < 500; i++) {
                lane.set(0, i);
                lane.request(0, shared);
                lane.tensor(0, 0, 0, 4, 1, 1);
                lane.tensor(0, 1, 64, 4);
                lane.infer(0);
                assertThat(lane.await(0)).isEqualTo(SlotState.DONE);
                assertThat(lane.ints(64, 1)).as(lane.text(0)).containsExactly(i);
            }
        }
        return null;
    }

    /** With 1.5 KB for each request, as it once was, there were more than ten collections. */
    @Test
    void shouldMakeNoObjectsForRequestsThatAreAlike() throws Exception {
        try (GatunClient client = GatunClient.connect("lane:" + socket).spinning(Duration.ofMillis(1));
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.set("INPUT1", SimpleModel.RIGHT);
            infer(tensors, 100_000); // until the code is compiled
            double before = collections();
            infer(tensors, 300_000);
            assertThat(collections() - before).isLessThan(5);
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
        }
    }

    private static void infer(SharedTensors tensors, int count) {
        for (int i = 0; i < count; i++) {
            tensors.infer();
        }
    }

    private static double collections() {
        return http.metric("jvm_gc_collection_seconds_count");
    }
}
