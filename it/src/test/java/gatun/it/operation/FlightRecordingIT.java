// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a flight recording of the real server tells, begun by {@code jcmd} with the template that comes along. */
@Timeout(120)
class FlightRecordingIT {
    private static final String TEMPLATE = "server/src/main/resources/gatun/server/gatun.jfc";

    private static final String ONES =
            "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[4],\"data\":[1,2,3,4]}]}";

    @TempDir
    Path folder;

    private final List<RecordedEvent> events = new ArrayList<>();

    @Test
    void shouldTellOfRequestsRunsModelsRegionsLanesAndWorkers() throws Exception {
        Path socket = folder.resolve("http.sock");
        Path file = folder.resolve("gatun.jfr");
        try (ServerProcess server = ServerProcess.launch(
                                ServerProcess.exampleModels(),
                                "--model-control-mode=explicit",
                                "--load-model=simple",
                                "--isolate=identity",
                                "--allow-client-shm",
                                "--http-unix-socket=" + socket)
                        .expectErrors();
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200); // before there is a recording
            assertThat(jcmd(
                            server,
                            "JFR.start",
                            "name=it",
                            "settings=" + ServerProcess.root().resolve(TEMPLATE),
                            "request-threshold=0ms",
                            "run-threshold=0ms"))
                    .contains("Started recording");
            askByEveryTransport(server, http, socket);
            useRegion(http);
            useWorker(server, http); // which takes much longer than to unmap a region
            assertThat(jcmd(server, "JFR.stop", "name=it", "filename=" + file)).contains("Stopped recording");
        }
        RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("gatun."))
                .forEach(events::add);
        assertRequests();
        assertModels();
        assertRegionsLanesAndWorkers();
    }

    private static void askByEveryTransport(ServerProcess server, HttpApi http, Path socket) {
        assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                .isEqualTo(200);
        assertThat(http.post("/v2/models/" + "m".repeat(300) + "/infer", SimpleModel.json())
                        .statusCode())
                .isEqualTo(404);
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            grpc.service().modelInfer(SimpleModel.grpc());
        }
        try (GatunClient client = GatunClient.connect("lane:" + socket);
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.infer();
        }
    }

    /** Loads a model in a process of its own, which is killed and comes back, and unloads it. */
    private static void useWorker(ServerProcess server, HttpApi http) {
        assertThat(http.post("/v2/repository/models/identity_fp32/load", "").statusCode())
                .isEqualTo(200);
        assertThat(http.post("/v2/models/identity_fp32/infer", ONES).statusCode())
                .isEqualTo(200);
        List<ProcessHandle> workers = server.descendants("engine-process");
        assertThat(workers).hasSize(1);
        workers.getFirst().destroyForcibly();
        Await.until(
                "the process to run again",
                () -> http.post("/v2/models/identity_fp32/infer", ONES).statusCode() == 200
                        && server.log().contains("runs again"));
        assertThat(http.post("/v2/repository/models/identity_fp32/unload", "").statusCode())
                .isEqualTo(200);
        Await.until(
                "the model to be gone",
                () -> http.post("/v2/repository/index", "").body().contains("unloaded"));
    }

    private static void useRegion(HttpApi http) throws IOException {
        try (SharedObject object = SharedObject.create(4096)) {
            assertThat(http.register("recorded", object.key(), "0", "4096").statusCode())
                    .isEqualTo(200);
            assertThat(http.unregister("recorded").statusCode()).isEqualTo(200);
        }
    }

    private void assertRequests() {
        RecordedEvent http = one(
                "gatun.Request",
                event -> is(event, "transport", "http") && is(event, "request", "POST /v2/models/simple/infer"));
        assertThat(http.getString("protocol")).isEqualTo("v2");
        assertThat(http.getString("request")).isEqualTo("POST /v2/models/simple/infer");
        assertThat(http.getString("version")).isEqualTo("1");
        assertThat(http.getString("status")).isEqualTo("200");
        assertThat(http.getInt("batchSize")).isEqualTo(1);
        assertThat(http.getLong("bytesReceived")).isGreaterThan(100);
        assertThat(http.getLong("bytesSent")).isGreaterThan(100);
        assertThat(http.getDuration("computeInfer")).isPositive().isLessThanOrEqualTo(http.getDuration());
        assertThat(http.getDuration("queue")).isPositive();
        assertThat(http.getEventType().getCategoryNames()).containsExactly("Gatun", "Requests");
        RecordedEvent unknown = one("gatun.Request", event -> is(event, "status", "404"));
        assertThat(unknown.getString("model")).startsWith("mmm").hasSize(256 + 3);
        assertThat(unknown.getDuration("computeInfer")).isZero();
        RecordedEvent grpc = one("gatun.Request", event -> is(event, "transport", "grpc"));
        assertThat(grpc.getString("status")).isEqualTo("OK");
        assertThat(grpc.getString("request")).isEqualTo("inference.GRPCInferenceService/ModelInfer");
        RecordedEvent lane = one("gatun.Request", event -> is(event, "transport", "lane"));
        assertThat(lane.getString("model")).isEqualTo("simple");
        assertThat(lane.getLong("bytesReceived")).isEqualTo(-1);
        List<RecordedEvent> runs = all("gatun.Run", event -> is(event, "model", "simple"));
        assertThat(runs).hasSize(3).allSatisfy(run -> {
            assertThat(run.getInt("requests")).isEqualTo(1);
            assertThat(run.getInt("batchSize")).isEqualTo(1);
            assertThat(run.getString("version")).isEqualTo("1");
            assertThat(run.getString("instance")).startsWith("simple");
            assertThat(run.getDuration("computeInfer")).isPositive().isLessThanOrEqualTo(run.getDuration());
        });
    }

    private void assertModels() {
        RecordedEvent load = one("gatun.ModelLoad", event -> is(event, "model", "identity_fp32"));
        assertThat(load.getBoolean("loaded")).isTrue();
        assertThat(load.getString("version")).isEqualTo("1");
        assertThat(load.getString("backend")).isEqualTo("identity");
        assertThat(load.getDuration()).isPositive();
        one("gatun.ModelUnload", event -> is(event, "model", "identity_fp32"));
    }

    private void assertRegionsLanesAndWorkers() {
        for (String name : List.of("Registered", "Retired", "Unmapped")) {
            RecordedEvent event = one("gatun.Region" + name, region -> is(region, "name", "recorded"));
            assertThat(event.getString("kind")).isEqualTo("system");
            assertThat(event.getLong("byteSize")).isEqualTo(4096);
        }
        assertThat(one("gatun.RegionRetired", region -> is(region, "name", "recorded"))
                        .getString("reason"))
                .isEqualTo("unregistered");
        RecordedEvent opened = one("gatun.LaneOpened", any -> true);
        RecordedEvent closed = one("gatun.LaneClosed", any -> true);
        assertThat(opened.getLong("lane")).isEqualTo(closed.getLong("lane")).isEqualTo(1);
        assertThat(opened.getInt("slots")).isPositive();
        List<RecordedEvent> started = all("gatun.WorkerStarted", any -> true);
        assertThat(started).hasSize(2);
        RecordedEvent died = one("gatun.WorkerEnded", event -> is(event, "reason", "signal"));
        assertThat(died.getString("how")).isEqualTo("was ended by SIGKILL");
        assertThat(died.getLong("pid")).isEqualTo(started.getFirst().getLong("pid"));
        assertThat(one("gatun.WorkerRestarted", any -> true).getBoolean("serves"))
                .isTrue();
    }

    private RecordedEvent one(String type, Predicate<RecordedEvent> which) {
        List<RecordedEvent> found = all(type, which);
        assertThat(found).as("%s among %s", type, events).hasSize(1);
        return found.getFirst();
    }

    private List<RecordedEvent> all(String type, Predicate<RecordedEvent> which) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(type) && which.test(event))
                .toList();
    }

    private static boolean is(RecordedEvent event, String field, String value) {
        return value.equals(event.getString(field));
    }

    private static String jcmd(ServerProcess server, String... command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(server.handle().pid())));
        words.addAll(List.of(command));
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }
}
