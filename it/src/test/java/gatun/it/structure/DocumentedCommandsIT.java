// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.structure.DocumentedPage.Block;
import gatun.testing.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of the documents do what these say; {@link ReadmeIT} runs those of the README. Each block of shell
 * commands runs here, before one server that has all flags of the documented ones; or it is listed below with the test
 * that runs it, or with the reason why none does.
 */
@Timeout(180)
class DocumentedCommandsIT {
    private static final Path ROOT = ServerProcess.root();

    /** By the beginning of a block's first line: the test that runs its commands. */
    private static final Map<String, String> RUN_BY = Map.ofEntries(
            Map.entry("./gatun serve --model-repository=s3://", "ObjectStoreIT"),
            Map.entry("./gatun bench ", "BenchIT"),
            Map.entry("./gatun serve --model-repository=DIR --backend-directory=", "BackendDirectoryIT"),
            Map.entry("mvn -pl examples/backend ", "BackendDirectoryIT"),
            Map.entry("curl -s localhost:8000/v2/models/fahrenheit/", "BackendDirectoryIT"),
            Map.entry("$(./gatun --print-java) ", "HelloSharedMemoryIT"),
            Map.entry("grpcurl ", "ControlServiceTest"),
            Map.entry("ones='[1,1", "ApplicationIT"),
            Map.entry("./gatun install pytorch", "TorchIT"),
            Map.entry("tar -xzf gatun-VERSION", "DistributionIT"),
            Map.entry("podman load ", "DistributionIT"),
            Map.entry("source <(gatun completion bash)", "CompletionTest, ManualPageTest"),
            Map.entry("tritonserver ", "CommandLineIT"),
            Map.entry("jcmd ", "FlightRecordingIT"),
            Map.entry("GATUN_JAVA_OPTS=-XX:StartFlightRecording", "FlightRecordingIT"),
            Map.entry("haproxy ", "ScaleOutIT"),
            Map.entry("helm ", "ChartTest"),
            Map.entry("kubectl ", "KServeRuntimeTest"));

    /** By the beginning of a block's first line: why no test runs its commands. */
    private static final Map<String, String> NOT_RUN = Map.of(
            "python3 -m venv ", "it downloads packages of Python",
            "env/bin/python export.py", "it needs these packages",
            "./gatun serve --model-repository=models ", "it serves the model that they export",
            "curl -s localhost:8000/v2/models/iris/", "it asks that model",
            "mvn verify", "it is the run of all tests, this one among them",
            "jmh/gpu-report", "it needs a GPU");

    /** Pages of which each block is a measurement, for minutes. */
    private static final Set<Path> MEASUREMENTS = Set.of(Path.of("docs/performance.md"));

    /** Pages whose engine has a library for some processors only. */
    private static final Set<Path> OF_X86 = Set.of(Path.of("docs/guides/trees.md"));

    private static final Pattern MEASUREMENT = Pattern.compile("(?m)^jmh/run (\\w+)");

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(DocumentedCommandsIT::start);

    private static ServerProcess start() throws Exception {
        Set<String> flags = new LinkedHashSet<>();
        for (DocumentedPage page : pages().toList()) {
            page.blocks().stream()
                    .filter(DocumentedCommandsIT::isRunHere)
                    .forEach(block -> flags.addAll(block.serverFlags()));
        }
        assertThat(flags).contains("--model-repository=examples/models", "--allow-client-shm");
        // Python's packages belong to the system's own.
        flags.add("--backend-config=python,executable=" + Python.with("numpy"));
        return ServerProcess.launchList(flags.stream()
                .map(flag -> flag.replace("--model-repository=", "--model-repository=" + ROOT + "/"))
                .toArray(String[]::new));
    }

    private static Stream<DocumentedPage> pages() throws IOException {
        List<Path> files;
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> examples =
                        Files.find(ROOT.resolve("examples"), 3, (file, type) -> file.endsWith("README.md"))) {
            files = Stream.concat(docs, examples)
                    .filter(file -> file.toString().endsWith(".md"))
                    .map(ROOT::relativize)
                    .sorted()
                    .toList();
        }
        return files.stream()
                .filter(Predicate.not(MEASUREMENTS::contains))
                .filter(page -> System.getProperty("os.arch").equals("amd64") || !OF_X86.contains(page))
                .map(file -> DocumentedPage.read(ROOT, file))
                .filter(page -> !page.blocks().isEmpty());
    }

    private static boolean isRunHere(Block block) {
        return listed(RUN_BY, block).or(() -> listed(NOT_RUN, block)).isEmpty()
                && !block.firstLine().startsWith("examples/digit ");
    }

    private static Optional<String> listed(Map<String, String> list, Block block) {
        return list.keySet().stream().filter(block.firstLine()::startsWith).findFirst();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldDoWhatThePageShows(DocumentedPage page) throws Exception {
        List<Block> blocks =
                page.blocks().stream().filter(DocumentedCommandsIT::isRunHere).toList();
        new PastedCommands(server, folder).assertOutputs(page, blocks);
    }

    @Test
    void shouldReadADigitOverEveryTransport() throws Exception {
        Path client = ROOT.resolve("examples/target/digit");
        assumeThat(Files.isDirectory(client.resolve("lib")))
                .as("the client is built")
                .isTrue();
        // Tells the launcher that what this build has made is fresh.
        Files.writeString(client.resolve("stamp"), "");
        Block block = DocumentedPage.read(ROOT, Path.of("docs/guides/client.md")).blocks().stream()
                .filter(candidate -> candidate.firstLine().startsWith("examples/digit "))
                .findFirst()
                .orElseThrow();
        assertThat(new PastedCommands(server, folder)
                        .run(block.firstLine() + " --url=http://localhost:8000 --grpc-url=localhost:8001"))
                .contains("HTTP", "gRPC", "7");
    }

    @Test
    void shouldNameTestsThatRunTheOthers() throws Exception {
        List<String> firstLines = pages().flatMap(page -> page.blocks().stream())
                .map(Block::firstLine)
                .toList();
        assertThat(Stream.concat(RUN_BY.keySet().stream(), NOT_RUN.keySet().stream()))
                .allSatisfy(beginning -> assertThat(firstLines)
                        .as("a block that begins with '%s'", beginning)
                        .anyMatch(line -> line.startsWith(beginning)));
        Set<String> tests;
        try (Stream<Path> files = Files.walk(ROOT)) {
            tests = Set.copyOf(files.filter(file -> file.toString().contains("/src/test/java/"))
                    .map(file -> file.getFileName().toString().replace(".java", ""))
                    .distinct()
                    .toList());
        }
        assertThat(RUN_BY.values().stream().flatMap(names -> Stream.of(names.split(", "))))
                .isSubsetOf(tests);
    }

    @Test
    void shouldNameMeasurementsThatThereAre() throws IOException {
        String modes = Files.readString(ROOT.resolve("jmh/run"));
        Set<String> benchmarks;
        try (Stream<Path> files = Files.walk(ROOT.resolve("jmh/src/main/java"))) {
            benchmarks = Set.copyOf(
                    files.map(file -> file.getFileName().toString()).distinct().toList());
        }
        List<String> named = new ArrayList<>();
        for (Path page : MEASUREMENTS) {
            Matcher matcher = MEASUREMENT.matcher(Files.readString(ROOT.resolve(page)));
            while (matcher.find()) {
                named.add(matcher.group(1));
            }
        }
        assertThat(named).contains("load").allSatisfy(name -> assertThat(modes.contains("= " + name + " ]")
                        || benchmarks.stream().anyMatch(file -> file.startsWith(name)))
                .as("jmh/run %s", name)
                .isTrue());
    }
}
