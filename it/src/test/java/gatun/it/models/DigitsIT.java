// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.gpu.CudaClient;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The example client sends pictures of digits over every transport, and reads the right digits. */
class DigitsIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final List<String> TRANSPORTS =
            List.of("HTTP, JSON", "HTTP, binary", "gRPC", "shared memory, HTTP", "shared memory, gRPC");
    private static final Map<String, String> DIGITS = Map.of(
            "zero", "0", "one", "1", "two", "2", "three", "3", "four", "4", "five", "5", "six", "6", "seven", "7",
            "eight", "8", "nine", "9");

    @Test
    void shouldReadEveryPictureOverEveryTransport() throws Exception {
        Path client = ServerProcess.root().resolve("examples/target/digit/lib");
        assumeThat(client)
                .as("the example client, which 'mvn verify' builds before the server")
                .isDirectory();
        List<Path> pictures = pictures();
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--allow-client-shm")) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--repeat=1", "--url=" + server.ready("http.url"), "--grpc-url=" + server.ready("grpc.url")));
            pictures.forEach(picture -> arguments.add(picture.toString()));
            try (ChildJvm reader = ChildJvm.launch(client + "/*", Map.of(), "gatun.examples.ReadDigit", arguments)) {
                assertRead(reader, pictures, TRANSPORTS);
            }
        }
    }

    @Test
    void shouldReadAPictureInTheMemoryOfAGpu() throws Exception {
        Path client = ServerProcess.root().resolve("examples/target/digit/lib");
        assumeThat(client)
                .as("the example client, which 'mvn verify' builds before the server")
                .isDirectory();
        Map<String, String> environment = CudaClient.environment();
        List<Path> pictures = pictures().subList(0, 2);
        try (ServerProcess server =
                ServerProcess.launch(ServerProcess.exampleModels(), environment, "--allow-client-shm")) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--repeat=1",
                    "--transport=cuda",
                    "--url=" + server.ready("http.url"),
                    "--grpc-url=" + server.ready("grpc.url")));
            pictures.forEach(picture -> arguments.add(picture.toString()));
            try (ChildJvm reader = ChildJvm.launch(client + "/*", environment, "gatun.examples.ReadDigit", arguments)) {
                assertRead(reader, pictures, List.of("CUDA memory, HTTP", "CUDA memory, gRPC"));
            }
        }
    }

    private static void assertRead(ChildJvm reader, List<Path> pictures, List<String> transports) throws Exception {
        List<String> rows = reader.awaitEnd(LIMIT);
        for (String transport : transports) {
            for (Path picture : pictures) {
                String name = picture.getFileName().toString();
                String digit = DIGITS.get(name.substring(0, name.indexOf('-')));
                assertThat(rows).anySatisfy(row -> assertThat(row)
                        .containsPattern(name + " +" + transport + " +" + digit + " "));
            }
        }
    }

    private static List<Path> pictures() throws IOException {
        try (Stream<Path> files = Files.list(ServerProcess.root().resolve("examples/pictures"))) {
            return files.filter(file -> file.toString().endsWith(".png"))
                    .sorted()
                    .toList();
        }
    }
}
