// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Sequences that run together in the real server.process(), each of which reads its steps from shared memory and has its results
 * there.
 */
@Timeout(120)
class SequenceMemoryIT {
    private static final int CLIENTS = 4;

    /** The input and the output of a client: an INT32 each. */
    private static final int WINDOW = 2 * Integer.BYTES;

    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(SequenceMemoryIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        // Steps wait until there are four of them.
        model("direct_sum", "direct { max_queue_delay_microseconds: 20000000 minimum_slot_utilization: 0.5 }");
        model("oldest_sum", "oldest { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 20000000 }");
        return ServerProcess.launch(repository, "--allow-client-shm");
    }

    private static void model(String name, String strategy) throws Exception {
        Path example = ServerProcess.exampleModels().resolve("running_sum");
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.copy(example.resolve("1/model.onnx"), version.resolve("model.onnx"));
        String config = Files.readString(example.resolve("config.pbtxt"))
                        .replace("running_sum", name)
                        .replace("max_sequence_idle_microseconds: 5000000", "max_sequence_idle_microseconds: 60000000")
                        .replace("direct { }", strategy)
                + "instance_group [ { count: 1 } ]\n";
        assertThat(config).contains(strategy);
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
    }

    /** One step of a client's sequence, whose input is first in its window and whose output is second. */
    private static HttpResponse<String> step(String model, int client, String region, int offset, int step) {
        return http.post("/v2/models/" + model + "/infer", """
                {"parameters": {"sequence_id": %d, "sequence_start": %b, "sequence_end": %b},
                 "inputs": [{"name": "INPUT", "datatype": "INT32", "shape": [1, 1],
                   "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": 4,
                                  "shared_memory_offset": %d}}],
                 "outputs": [{"name": "OUTPUT",
                   "parameters": {"shared_memory_region": "%s", "shared_memory_byte_size": 4,
                                  "shared_memory_offset": %d}}]}""".formatted(
                        client + 1, step == 1, step == 3, region, offset, region, offset + Integer.BYTES));
    }

    private static byte[] bytes(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    @ParameterizedTest
    @CsvSource({"direct_sum, true", "direct_sum, false", "oldest_sum, true", "oldest_sum, false"})
    void shouldPutTheResultOfEachSequenceOfABatchIntoItsOwnWindow(String model, boolean oneObject) throws Exception {
        List<SharedObject> objects = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < CLIENTS; i++) {
                SharedObject object =
                        i > 0 && oneObject ? objects.getFirst() : SharedObject.create((long) CLIENTS * WINDOW);
                objects.add(object);
                assertThat(http.register("region" + i, object.key(), "0", "" + CLIENTS * WINDOW)
                                .statusCode())
                        .isEqualTo(200);
            }
            for (int step = 1; step <= 3; step++) {
                List<Future<HttpResponse<String>>> responses = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    int client = i;
                    int number = step;
                    objects.get(client).write((long) client * WINDOW, bytes(value(client, step)));
                    responses.add(
                            threads.submit(() -> step(model, client, "region" + client, client * WINDOW, number)));
                }
                for (int i = 0; i < CLIENTS; i++) {
                    HttpResponse<String> response = responses.get(i).get(30, TimeUnit.SECONDS);
                    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                    ByteBuffer result = objects.get(i)
                            .read((long) i * WINDOW + Integer.BYTES, Integer.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN);
                    assertThat(result.getInt())
                            .as("step " + step + " of client " + i)
                            .isEqualTo(sum(i, step));
                }
            }
            assertThat(http.get("/v2/models/" + model + "/stats").body())
                    .as("runs of four sequences")
                    .contains("\"batch_size\":4")
                    .doesNotContain("\"batch_size\":1,", "\"batch_size\":2", "\"batch_size\":3");
        } finally {
            assertThat(http.post("/v2/systemsharedmemory/unregister", "").statusCode())
                    .isEqualTo(200);
            for (SharedObject object : oneObject ? objects.subList(0, 1) : objects) {
                object.close();
            }
        }
    }

    private static int value(int client, int step) {
        return 1000 * (client + 1) + step;
    }

    private static int sum(int client, int steps) {
        int sum = 0;
        for (int step = 1; step <= steps; step++) {
            sum += value(client, step);
        }
        return sum;
    }
}
