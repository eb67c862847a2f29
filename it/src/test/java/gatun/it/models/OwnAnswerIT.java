// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ConsoleApi;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.OnnxGraph;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models whose rows depend on one another, or fail one another, and callers who come at the same time. */
@Timeout(120)
class OwnAnswerIT {
    private static final int CALLERS = 8;

    /** More than all ways of running a request are tried. */
    private static final int REQUESTS = 120;

    private static final String BATCHED = """
            backend: "onnxruntime"
            max_batch_size: 16
            dynamic_batching { max_queue_delay_microseconds: 2000 }
            instance_group [ { count: 1 } ]
            """;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    private static Path repository;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        repository = folder;
        clipping().write(folder.resolve("clipping/1"));
        hidden().write(folder.resolve("hidden/1"));
        quantised().write(folder.resolve("quantised/1"));
        quantised().write(folder.resolve("quantised_batched/1"));
        Files.writeString(folder.resolve("quantised_batched/config.pbtxt"), BATCHED);
        new OnnxGraph()
                .input("X", OnnxGraph.FLOAT, "n", "4")
                .output("Y", OnnxGraph.FLOAT, "n", "4")
                .node("Tanh", "X", "Y")
                .write(folder.resolve("independent/1"));
        new OnnxGraph()
                .input("IDS", OnnxGraph.INT64, "n", "2")
                .output("ROWS", OnnxGraph.FLOAT, "n", "2", "3")
                .weights("table", 10, 3)
                .node("Gather", "table IDS", "ROWS")
                .write(folder.resolve("lookup/1"));
        Files.writeString(folder.resolve("lookup/config.pbtxt"), BATCHED);
        server = ServerProcess.launch(folder).expectErrors();
        http = new HttpApi(server);
    }

    /** Clips 8 below the greatest value of the batch, as spectrograms of speech are clipped. */
    private static OnnxGraph clipping() {
        return new OnnxGraph()
                .input("X", OnnxGraph.FLOAT, "n", "4")
                .output("Y", OnnxGraph.FLOAT, "n", "4")
                .number("range", 8)
                .named("loudest", "ReduceMax", "X", "greatest", OnnxGraph.attribute("keepdims", 0))
                .node("Sub", "greatest range", "least")
                .node("Max", "X least", "Y");
    }

    /** The same, in a way that only a run shows: all rows are one. */
    private static OnnxGraph hidden() {
        return new OnnxGraph()
                .input("X", OnnxGraph.FLOAT, "n", "4")
                .output("Y", OnnxGraph.FLOAT, "n", "4")
                .number("range", 8)
                .integers("one", 1, -1)
                .node("Reshape", "X one", "row")
                .node("ReduceMax", "row", "greatest", OnnxGraph.attributes("axes", 1))
                .node("Sub", "greatest range", "least")
                .node("Max", "X least", "Y");
    }

    /** The scale is that of the whole tensor. */
    private static OnnxGraph quantised() {
        return new OnnxGraph()
                .input("X", OnnxGraph.FLOAT, "n", "4")
                .output("Y", OnnxGraph.FLOAT, "n", "4")
                .named("scaling", "DynamicQuantizeLinear", "X", "bytes scale zero")
                .node("DequantizeLinear", "bytes scale zero", "Y");
    }

    private static HttpResponse<String> infer(String model, String input, String datatype, String shape, String data) {
        return http.post(
                "/v2/models/" + model + "/infer",
                "{\"inputs\":[{\"name\":\"" + input + "\",\"datatype\":\"" + datatype + "\",\"shape\":[" + shape
                        + "],\"data\":[" + data + "]}]}");
    }

    private static String answer(String model, String shape, String data) {
        HttpResponse<String> response = infer(model, "X", "FP32", shape, data);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static String config(String model) {
        return http.get("/v2/models/" + model + "/config").body();
    }

    @ParameterizedTest
    @ValueSource(strings = {"clipping", "hidden", "quantised"})
    void shouldAnswerEachAsIfHeWereAlone(String model) throws Exception {
        List<String> rows = List.of("0,1,2,3", "-9,-8,-7,-6", "100,1,0,-1", "-3,0.5,0.25,7");
        List<String> alone = rows.stream().map(row -> answer(model, "1,4", row)).toList();
        List<Future<Set<String>>> answers = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int caller = 0; caller < CALLERS; caller++) {
                String row = rows.get(caller % rows.size());
                answers.add(callers.submit(() -> {
                    Set<String> got = new HashSet<>();
                    for (int i = 0; i < REQUESTS; i++) {
                        got.add(answer(model, "1,4", row));
                    }
                    return got;
                }));
            }
            for (int caller = 0; caller < CALLERS; caller++) {
                assertThat(answers.get(caller).get(60, TimeUnit.SECONDS))
                        .containsExactly(alone.get(caller % rows.size()));
            }
        }
    }

    @Test
    void shouldSayWhyRequestsShareNoRuns() throws Exception {
        assertThat(config("independent")).contains("\"dynamic_batching\"");
        for (String model : List.of("clipping", "hidden", "quantised")) {
            assertThat(config(model)).contains("\"max_batch_size\":4").doesNotContain("\"dynamic_batching\"");
        }
        String one = "requests run one by one, since nobody has configured dynamic_batching and ";
        assertThat(server.log()).contains(one + "rows depend on one another: output 'Y' differs by", "'loudest'");
        assertThat(new ConsoleApi(http).json(ConsoleApi.path("clipping")).toString())
                .contains(one);

        ServerProcess check = ServerProcess.run("check", repository.toString());
        try (check) {
            assertThat(check.awaitExit(Duration.ofSeconds(60))).isZero();
            assertThat(check.transcript())
                    .contains("clipping: good", one, "'loudest'", "'scaling'", "output 'Y' differs by");
        }
    }

    @Test
    void shouldGiveOneCallerTheSameAnswerToTheSameRequest() {
        String rows = "0,1,2,3,-9,-8,-7,-6,100,1,0,-1,-3,0.5,0.25,7";
        Set<String> answers = new HashSet<>();
        for (int i = 0; i < REQUESTS; i++) {
            answers.add(answer("quantised_batched", "4,4", rows));
        }
        assertThat(answers).hasSize(1);
    }

    @Test
    void shouldFailOnlyWhoSendsABadIndex() throws Exception {
        String expected = infer("lookup", "IDS", "INT64", "1,2", "3,7").body();
        assertThat(expected).contains("\"data\"");
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Set<String>>> good = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                good.add(callers.submit(() -> {
                    Set<String> got = new HashSet<>();
                    for (int i = 0; i < REQUESTS; i++) {
                        got.add(infer("lookup", "IDS", "INT64", "1,2", "3,7").body());
                    }
                    return got;
                }));
            }
            Future<Set<Integer>> bad = callers.submit(() -> {
                Set<Integer> got = new HashSet<>();
                for (int i = 0; i < REQUESTS; i++) {
                    HttpResponse<String> response = infer("lookup", "IDS", "INT64", "1,2", "3,-424242");
                    assertThat(response.body()).contains("-424242");
                    got.add(response.statusCode());
                }
                return got;
            });
            assertThat(bad.get(60, TimeUnit.SECONDS)).containsExactly(400);
            for (Future<Set<String>> answers : good) {
                assertThat(answers.get(60, TimeUnit.SECONDS)).containsExactly(expected);
            }
        }
    }
}
