// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A model that was unloaded has given its memory back: a server that loads and unloads for ever does not grow. */
@Timeout(300)
class UnloadMemoryIT {
    /** Until the code is compiled and the allocators have what they keep. */
    private static final int WARM_UP = 40;

    private static final int ROUNDS = 200;

    /** The Java heap is all there from the start, so that only what is native can grow. */
    private static final Map<String, String> FIXED_HEAP =
            Map.of("GATUN_JAVA_OPTS", "-Xms96m -Xmx96m -XX:+AlwaysPreTouch");

    /** A leak of one session of this model in each round would be more than 60 MB. */
    private static final long MOST_GROWTH_BYTES = 24L << 20;

    @TempDir
    Path folder;

    @Test
    void shouldNotGrowByLoadingAndUnloading() throws Exception {
        Path digits = ServerProcess.exampleModels().resolve("digits");
        Path version = Files.createDirectories(folder.resolve("digits/1"));
        Files.copy(digits.resolve("1/model.onnx"), version.resolve("model.onnx"));
        Files.copy(digits.resolve("config.pbtxt"), folder.resolve("digits/config.pbtxt"));
        Files.copy(digits.resolve("labels.txt"), folder.resolve("digits/labels.txt"));
        try (ServerProcess server = ServerProcess.launch(folder, FIXED_HEAP, "--model-control-mode=explicit");
                HttpApi http = new HttpApi(server)) {
            rounds(http, WARM_UP);
            long before = residentBytes(server);
            rounds(http, ROUNDS);
            long after = residentBytes(server);
            System.out.printf(
                    "%d loads and unloads: %d kB resident before, %d kB after%n", ROUNDS, before >> 10, after >> 10);
            assertThat(after - before).as("growth in bytes").isLessThan(MOST_GROWTH_BYTES);
            assertThat(http.metric("gatun_backend_live_values{backend=\"onnxruntime\"}"))
                    .isZero();
        }
    }

    private static void rounds(HttpApi http, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(http.post("/v2/repository/models/digits/load", "").statusCode())
                    .isEqualTo(200);
            assertThat(http.post("/v2/models/digits/infer", request()).statusCode())
                    .isEqualTo(200);
            assertThat(http.post("/v2/repository/models/digits/unload", "").statusCode())
                    .isEqualTo(200);
            awaitUnloaded(http);
        }
    }

    private static String request() {
        return "{\"inputs\":[{\"name\":\"image\",\"datatype\":\"FP32\",\"shape\":[1,1,28,28],\"data\":["
                + "0.5,".repeat(28 * 28 - 1) + "0.5]}]}";
    }

    private static void awaitUnloaded(HttpApi http) {
        Await.until(
                "it is unloaded",
                () -> http.post("/v2/repository/index", "").body().contains("\"reason\":\"unloaded\""));
    }

    /** The memory of the machine that the process occupies, in bytes. */
    private static long residentBytes(ServerProcess server) {
        Path status = Path.of("/proc/" + server.handle().pid() + "/status");
        try {
            String line = Files.readAllLines(status).stream()
                    .filter(text -> text.startsWith("VmRSS:"))
                    .findFirst()
                    .orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", "")) << 10;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
