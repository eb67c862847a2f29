// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code gatun models}: its list of the models of a running server, over both protocols. */
class ModelsCommandIT {
    @TempDir
    Path folder;

    @Test
    void shouldListStatesCountsAndReasons() throws Exception {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.simple("good", "", 1);
        models.simple("bad", "nonsense: 1", 1);
        Path socket = folder.resolve("http.sock");
        try (ServerProcess server =
                        ServerProcess.launch(folder, "--exit-on-error=false", "--http-unix-socket=" + socket);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/good/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);
            List<String> urls =
                    List.of(server.http("").toString(), "unix:" + socket, "grpc://localhost:" + server.grpcPort());
            for (String url : urls) {
                ServerProcess listing = ServerProcess.run("models", "--url=" + url);
                assertThat(listing.awaitExit(Duration.ZERO)).as(listing.log()).isZero();
                assertThat(listing.output())
                        .as(url)
                        .containsPattern("good +\\| 1 +\\| onnxruntime \\| ready +\\| +1 \\| +0 \\| +\\d+")
                        .containsPattern("bad +\\| - +\\| - +\\| unavailable")
                        .contains("unknown field 'nonsense' in ModelConfig");
            }
            ServerProcess ready = ServerProcess.run("models", "--ready", "--url=" + server.http(""));
            assertThat(ready.awaitExit(Duration.ZERO)).isZero();
            assertThat(ready.output()).contains("good").doesNotContain("bad");
        }
    }

    @Test
    void shouldListTheExamplesOnANarrowScreen() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);
            ServerProcess listing = ServerProcess.run("models", "--url=" + server.http(""));
            assertThat(listing.output()).contains("Engine", "simple_ensemble", "ensemble", "simple_identity");
            assertThat(listing.output().lines()).allMatch(line -> line.length() <= 80);
        }
    }

    @Test
    void shouldSayThatThereIsNoServer() {
        ServerProcess listing = ServerProcess.run("models", "--url=unix:" + folder.resolve("nobody.sock"));
        assertThat(listing.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(listing.log()).contains("nobody.sock");
        assertThat(listing.output()).isEmpty();

        ServerProcess wrong = ServerProcess.run("models", "--url=ftp://localhost");
        assertThat(wrong.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(wrong.log()).contains("ftp://localhost", "expected http://HOST:PORT");
    }
}
