// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many threads of ONNX Runtime the server's process has for a model, on machines of which it is told. */
@Timeout(120)
class ComputingThreadsIT {
    private static final Pattern OF_A_SESSION = Pattern.compile("onnxruntime-\\d+");

    /** In the command lines of workers. */
    private static final String WORKER = "engine-process";

    @TempDir
    Path folder;

    /**
     * Columns from the third on: the threads of the sessions, callers included, of models with 1, 2, 4, and 8 instances;
     * first that of runs side by side, then that of a run that has the machine to itself, if there is another for that.
     */
    @ParameterizedTest(name = "{0} cores, adaptive={1}")
    @CsvSource({
        "4, true,  1 4,   3,  1 4, 1 4",
        "16, true, 9 16,  15, 13,  9 16",
        "64, true, 57 64, 63, 61,  57",
        "4, false,  4,    3,  1,   1",
        "16, false, 16,   15, 13,  9",
        "64, false, 64,   63, 61,  57",
    })
    void shouldBeAsManyAsTheCoresTogetherWithTheInstances(
            int cores, boolean isAdaptive, String ofOne, String ofTwo, String ofFour, String ofEight) throws Exception {
        List<String> sessions = List.of(ofOne, ofTwo, ofFour, ofEight);
        List<Integer> counts = List.of(1, 2, 4, 8);
        for (int count : counts) {
            new ModelRepositoryFolder(folder).simple(name(count), """

                            dynamic_batching { }
                            instance_group [ { kind: KIND_CPU count: %d } ]
                            """.formatted(count), 1);
        }
        try (ServerProcess server = ServerProcess.launch(
                        folder,
                        Map.of("GATUN_JAVA_OPTS", "-XX:ActiveProcessorCount=" + cores),
                        "--model-control-mode=explicit",
                        "--adaptive=" + isAdaptive);
                HttpApi http = new HttpApi(server)) {
            long before = threads(server.handle());
            for (int i = 0; i < counts.size(); i++) {
                int instances = counts.get(i);
                List<Integer> ofSessions = Arrays.stream(sessions.get(i).split(" ", -1))
                        .map(Integer::valueOf)
                        .toList();
                load(http, name(instances));
                long after = threads(server.handle());

                assertThat(after - before)
                        .as("threads of sessions with %s, for %d instances", ofSessions, instances)
                        .isEqualTo(ofSessions.stream()
                                .mapToInt(threads -> threads - 1)
                                .sum());
                if (instances > 1) {
                    assertThat(ofSessions.getFirst() - 1 + instances)
                            .as("threads that compute while all %d instances do", instances)
                            .isEqualTo(Math.max(cores, instances));
                }
                before = after;
            }
        }
    }

    @Test
    void shouldBeAShareOfTheCoresInEachProcess() throws Exception {
        new ModelRepositoryFolder(folder).simple("apart", """

                instance_group [ { kind: KIND_CPU count: 2 } ]
                parameters { key: "isolation" value { string_value: "process" } }
                """, 1);
        try (ServerProcess server = ServerProcess.launch(
                folder, Map.of("GATUN_JAVA_OPTS", "-XX:ActiveProcessorCount=16"), "--adaptive=false")) {
            assertThat(server.descendants(WORKER)).hasSize(2).allSatisfy(worker -> assertThat(threads(worker))
                    .isEqualTo(16 / 2 - 1));
        }
    }

    private static String name(int instances) {
        return "simple_" + instances;
    }

    private static void load(HttpApi http, String model) {
        assertThat(http.post("/v2/repository/models/" + model + "/load", "").statusCode())
                .isEqualTo(200);
        assertThat(http.post("/v2/models/" + model + "/infer", SimpleModel.json())
                        .body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM));
    }

    /** Those of the pools of sessions, by the names that Linux tells. */
    private static long threads(ProcessHandle process) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            for (Path thread : threads.toList()) {
                try {
                    names.add(Files.readString(thread.resolve("comm")).strip());
                } catch (IOException e) {
                    // It has ended meanwhile: it is none of a session that is open.
                }
            }
        }
        return names.stream().filter(OF_A_SESSION.asMatchPredicate()).count();
    }
}
