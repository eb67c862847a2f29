// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.FreePorts;
import gatun.testing.RedisServer;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share their responses by a real Redis server. */
@Timeout(120)
class RedisCacheIT {
    private static final String NUMBERS =
            String.join(",", IntStream.range(0, 16).mapToObj(Integer::toString).toList());
    private static final String REQUEST = """
            {"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1,16],"data":[%1$s]},
            {"name":"INPUT1","datatype":"INT32","shape":[1,16],"data":[%1$s]}]}""".formatted(NUMBERS);

    @TempDir
    Path repository;

    private void makeModel() throws Exception {
        assumeTrue(RedisServer.isInstalled(), "redis-server is not installed");
        Path simple = ServerProcess.exampleModels().resolve("simple");
        Path model = Files.createDirectories(repository.resolve("simple"));
        Files.createDirectories(model.resolve("1"));
        Files.copy(simple.resolve("1/model.onnx"), model.resolve("1/model.onnx"));
        Files.writeString(
                model.resolve("config.pbtxt"),
                Files.readString(simple.resolve("config.pbtxt")) + " response_cache { enable: true }");
    }

    private ServerProcess launch(int port) throws Exception {
        return ServerProcess.launch(
                repository,
                Map.of("TRITONCACHE_REDIS_PASSWORD", "redis123!"),
                "--cache-config=redis,host=127.0.0.1",
                "--cache-config=redis,port=" + port,
                "--cache-config=redis,socket_timeout=500");
    }

    private static void ask(HttpApi http) throws Exception {
        HttpResponse<String> response = http.post("/v2/models/simple/infer", REQUEST);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains("\"data\":[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30]");
    }

    private static String runs(HttpApi http) throws Exception {
        return http.get("/v2/models/simple/stats").body();
    }

    @Test
    void shouldAnswerWhatAnotherServerAnsweredAndGoOnWithoutRedis() throws Exception {
        makeModel();
        RedisServer redis = RedisServer.start("--requirepass", "redis123!");
        int port = redis.port();
        try (ServerProcess first = launch(port);
                ServerProcess second = launch(port);
                HttpApi one = new HttpApi(first);
                HttpApi other = new HttpApi(second)) {
            ask(one);
            ask(other);
            assertThat(runs(one)).contains("\"execution_count\":1").contains("\"cache_miss\":{\"count\":1");
            assertThat(runs(other)).contains("\"execution_count\":0").contains("\"cache_hit\":{\"count\":1");
            redis.close();
            for (int i = 0; i < 20; i++) {
                ask(other);
            }
            assertThat(runs(other)).contains("\"execution_count\":20");
        } finally {
            redis.close();
        }
    }

    @Test
    void shouldNotStartWithoutItsRedis() throws Exception {
        makeModel();
        try (Socket nobody = FreePorts.refusing();
                ServerProcess server = ServerProcess.start(
                        List.of(
                                "serve",
                                "--model-repository=" + repository,
                                "--cache-config=redis,host=127.0.0.1",
                                "--cache-config=redis,port=" + nobody.getLocalPort()),
                        Map.of())) {
            assertThat(server.expectErrors().awaitExit(Duration.ofSeconds(60))).isEqualTo(1);
            assertThat(server.log()).contains("failed to connect to Redis (127.0.0.1:");
        }
    }
}
