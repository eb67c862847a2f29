// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ConsoleApi;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server learns of its runs is shown, inside the server and in processes apart, and nothing is learned unasked. */
@Timeout(120)
class LearnedWaysIT {
    /** More than all trials of both instances, one after the other. */
    private static final int RUNS = 400;

    @TempDir
    Path folder;

    private ServerProcess serve(String parameters, String... flags) throws Exception {
        new ModelRepositoryFolder(folder).simple("simple", """

                instance_group [ { kind: KIND_CPU count: 2 } ]
                """ + parameters, 1);
        // Whatever this machine has: a run alone has two threads then, and one beside others.
        return ServerProcess.launch(folder, Map.of("GATUN_JAVA_OPTS", "-XX:ActiveProcessorCount=2"), flags);
    }

    private static void ask(HttpApi http) {
        for (int i = 0; i < RUNS; i++) {
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).body())
                    .contains(SimpleModel.jsonData(SimpleModel.SUM));
        }
    }

    private static List<String> metrics(HttpApi http, ServerProcess server, String family) {
        return http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.startsWith(family + "{"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "parameters { key: \"isolation\" value { string_value: \"process\" } }"})
    void shouldBeShownInMetricsAndConsole(String parameters) throws Exception {
        try (ServerProcess server = serve(parameters);
                HttpApi http = new HttpApi(server)) {
            ask(http);

            assertThat(metrics(http, server, "gatun_learned_way"))
                    .filteredOn(line -> line.contains("subject=\"spread\"") && line.endsWith(" 1"))
                    .hasSize(1);
            assertThat(metrics(http, server, "gatun_learned_gain_ratio"))
                    .anyMatch(line -> line.contains("subject=\"spread\""));
            assertThat(http.get(ConsoleApi.path("simple")).body())
                    .contains("learned while it runs", "spread: ", "threads: ");
        }
    }

    @Test
    void shouldBeNothingWhereTheOperatorSaysSo() throws Exception {
        try (ServerProcess server = serve("", "--adaptive=false");
                HttpApi http = new HttpApi(server)) {
            ask(http);

            assertThat(metrics(http, server, "gatun_learned_way")).isEmpty();
            assertThat(metrics(http, server, "gatun_runs"))
                    .filteredOn(line -> line.contains("thread=\"request\""))
                    .hasSize(1)
                    .allMatch(line -> line.endsWith(" 0"));
        }
    }
}
