// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The example of a Python model: a picture in, its digit out. */
@Timeout(120)
class ReadDigitIT {
    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(() -> ServerProcess.launch(
            ServerProcess.exampleModels(),
            "--model-repository=" + ServerProcess.root().resolve("examples/models-python"),
            PythonModels.executable()));

    private static final HttpApi http = server.http();

    private static HttpResponse<byte[]> read(byte[] picture) {
        return http.send(
                HttpRequest.newBuilder(http.uri("/v2/models/read_digit/infer"))
                        .header("Inference-Header-Content-Length", "0")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(picture)),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    @ParameterizedTest
    @CsvSource({"seven-hand,7", "eight-chalk,8", "four-transparent,4", "zero-mono,0", "two-faint,2"})
    void shouldReadAPicture(String name, String digit) throws Exception {
        Path picture = ServerProcess.root().resolve("examples/pictures/" + name + ".png");
        byte[] response = read(Files.readAllBytes(picture)).body();
        assertThat(new String(response, response.length - 1, 1, StandardCharsets.US_ASCII))
                .isEqualTo(digit);
    }

    @ParameterizedTest
    @CsvSource({"0,expected a PNG file", "200,the picture is cut off"})
    void shouldRefuseWhatIsNoPicture(int length, String reason) throws Exception {
        byte[] picture = Files.readAllBytes(ServerProcess.root().resolve("examples/pictures/seven-hand.png"));
        HttpResponse<byte[]> response =
                read(length == 0 ? "no picture".getBytes(StandardCharsets.UTF_8) : Arrays.copyOf(picture, length));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(new String(response.body(), StandardCharsets.UTF_8)).contains("input 'PNG'", reason);
    }
}
