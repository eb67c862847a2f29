// SPDX-License-Identifier: Apache-2.0
package gatun.examples.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The application as its users start it: the jar, and the jar taken apart. */
@Timeout(120)
class ApplicationIT {
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final Path JAR = Path.of(System.getProperty("application.jar"));
    private static final String ONES =
            IntStream.range(0, 16).mapToObj(i -> "1").toList().toString();

    @TempDir
    Path folder;

    @Test
    void shouldServeItsModelsAsOneJar() throws Exception {
        ask(JAR);
    }

    @Test
    void shouldServeItsModelsTakenApart() throws Exception {
        Process extract = new ProcessBuilder(
                        java(),
                        "-Djarmode=tools",
                        "-jar",
                        JAR.toString(),
                        "extract",
                        "--destination",
                        folder.toString())
                .inheritIO()
                .start();
        assertThat(extract.waitFor()).isZero();
        ask(folder.resolve(JAR.getFileName()));
    }

    private static void ask(Path jar) throws Exception {
        List<String> log = new ArrayList<>();
        Process application = new ProcessBuilder(
                        java(), "-XX:TieredStopAtLevel=1", "-jar", jar.toString(), "--server.port=0")
                .redirectErrorStream(true)
                .start();
        try (BufferedReader lines = application.inputReader();
                HttpClient http = HttpClient.newHttpClient()) {
            String base = "http://localhost:" + port(lines, log);
            HttpResponse<String> sum = http.send(
                    HttpRequest.newBuilder(URI.create(base + "/add"))
                            .header("content-type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"left\":" + ONES + ",\"right\":" + ONES + "}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(sum.body())
                    .as(log.toString())
                    .isEqualTo(ONES.replace('1', '2').replace(" ", ""));
            assertThat(get(http, base + "/actuator/health")).contains("\"gatun\":{", "\"server\":\"gatun ");
            assertThat(get(http, base + "/actuator/metrics/gatun.requests")).contains("\"simple\"", "identity_fp32");
            assertThat(log).noneMatch(line -> line.contains("WARNING") || line.contains("SLF4J"));
        } finally {
            application.destroy();
            application.waitFor();
        }
    }

    private static String get(HttpClient http, String url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static String port(BufferedReader lines, List<String> log) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            log.add(line);
            Matcher found = PORT.matcher(line);
            if (found.find()) {
                return found.group(1);
            }
        }
        throw new AssertionError("the application ended: " + log);
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
