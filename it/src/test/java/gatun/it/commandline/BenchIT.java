// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.GatunClient;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.wire.inference.ModelStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code gatun bench} as its own process against the real server.process(), over every protocol and transport, with short
 * windows.
 */
@Timeout(180)
class BenchIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final List<String> SHORT =
            List.of("--measurement-interval=150ms", "--warm-up=50ms", "--max-trials=2");

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(() -> ServerProcess.launch(
            ServerProcess.exampleModels(),
            "--allow-client-shm",
            "--http-unix-socket=" + folder.resolve("http.sock"),
            "--grpc-unix-socket=" + folder.resolve("grpc.sock")));

    @Test
    void shouldMeasureEveryTransportAndFindAllAnswersRight() throws IOException {
        Path csv = folder.resolve("transports.csv");
        Path json = folder.resolve("transports.json");
        Path html = folder.resolve("transports.html");
        ServerProcess bench = bench(
                "--model=simple",
                "--url=" + http() + "," + grpc() + ",unix:" + folder.resolve("http.sock") + ",grpc+unix:"
                        + folder.resolve("grpc.sock") + ",lane:" + folder.resolve("http.sock"),
                "--transport=binary,json,stream,posix,sealed,lane",
                "--concurrency=2",
                "--data=" + simpleData(7),
                "--csv=" + csv,
                "--json=" + json,
                "--html=" + html);
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        List<String> lines = Files.readAllLines(csv);
        assertThat(lines.stream().skip(1).map(line -> cell(line, 1)))
                .containsExactly(
                        "http binary",
                        "http json",
                        "http binary posix",
                        "http binary sealed",
                        "grpc",
                        "grpc stream",
                        "grpc posix",
                        "grpc sealed",
                        "unix binary",
                        "unix json",
                        "unix binary posix",
                        "unix binary sealed",
                        "grpc+unix",
                        "grpc+unix stream",
                        "grpc+unix posix",
                        "grpc+unix sealed",
                        "lane posix",
                        "lane sealed",
                        "lane sealed");
        assertThat(lines.stream().skip(1)).allSatisfy(line -> {
            assertThat(Long.parseLong(cell(line, 7))).isPositive();
            // The server's own times are there.
            assertThat(Double.parseDouble(cell(line, 25))).isPositive();
        });
        assertThat(bench.output()).contains("grpc+unix sealed", "server, per request", "All answers were as expected.");
        assertThat(json).content().contains("\"answers_checked\" : true", "\"histogram\"");
        assertThat(html).content().contains("<svg", "unix binary sealed");
        // There was no terminal to draw on.
        assertThat(bench.log()).doesNotContain("█", "window 1");
    }

    @Test
    void shouldLeaveNoRegionBehind() {
        ServerProcess bench = bench("--model=simple", "--url=" + http(), "--transport=posix,sealed");
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        try (GatunClient client = GatunClient.connect(http())) {
            assertThat(client.regions().regions()).isEmpty();
        }
    }

    @Test
    void shouldMeasureTensorFlowServingOverRestAndGrpc() throws IOException {
        ServerProcess bench = bench(
                "--model=simple", "--protocol=tensorflow", "--url=" + http() + "," + grpc(), "--data=" + simpleData(7));
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        assertThat(bench.output())
                .contains("http json", "grpc", "All answers were as expected.", "The server tells of no statistics");
    }

    @Test
    void shouldExitWithOneWhereAnswersAreNotAsExpected() throws IOException {
        Path expected = Files.writeString(folder.resolve("wrong.json"), "{\"OUTPUT0\": [" + numbers(i -> 9) + "]}");
        ServerProcess bench =
                bench("--model=simple", "--url=" + http(), "--data=" + simpleData(7), "--expect=" + expected);
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isEqualTo(1);
        assertThat(bench.output())
                .containsPattern("http binary, concurrency 1: \\d+ answered otherwise than expected:"
                        + " output 'OUTPUT0' has 7 at element 0: expected 9");
        ServerProcess tensorFlow = bench(
                "--model=simple",
                "--protocol=tensorflow",
                "--url=" + http() + "," + grpc(),
                "--data=" + simpleData(7),
                "--expect=" + expected);
        assertThat(tensorFlow.awaitExit(LIMIT)).as(tensorFlow.transcript()).isEqualTo(1);
        assertThat(tensorFlow.output())
                .containsPattern(
                        "http json, concurrency 1: \\d+ answered otherwise than expected: output 'OUTPUT0' has 7")
                .containsPattern("grpc, concurrency 1: \\d+ answered otherwise than expected: output 'OUTPUT0' has 7");
    }

    @Test
    void shouldSendAtARateWhateverTheAnswers() {
        Path json = folder.resolve("rate.json");
        ServerProcess bench =
                bench("--model=digits", "--url=" + http(), "--request-rate=40,60", "--batch=2", "--json=" + json);
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        assertThat(bench.output()).contains("http binary  40/s", "http binary  60/s", "sent late by");
        assertThat(json).content().contains("\"distribution\" : \"poisson\"", "\"batch\" : 2");
    }

    @Test
    void shouldMeasureTheModelsOfItsOwnProcess() {
        ServerProcess bench = bench("--model=simple", "--embedded=" + ServerProcess.exampleModels());
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        assertThat(bench.output()).contains("embedded");
    }

    @Test
    void shouldMeasureADecoupledModelOverAStream() throws IOException {
        Path data = Files.writeString(
                folder.resolve("repeat.json"),
                "{\"data\": [{\"IN\": [5, 6, 7], \"DELAY\": [0, 0, 0], \"WAIT\": [0]}], \"validation_data\": [{\"OUT\": [5]}]}");
        ServerProcess bench = bench("--model=repeat_int32", "--url=" + grpc(), "--transport=stream", "--data=" + data);
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        assertThat(bench.output()).contains("grpc stream", "All answers were as expected.");
        ServerProcess unary = bench("--model=repeat_int32", "--url=" + grpc(), "--data=" + data);
        assertThat(unary.awaitExit(LIMIT)).isEqualTo(1);
        assertThat(unary.log())
                .contains("model 'repeat_int32' is decoupled, with any number of answers to a request:"
                        + " use --transport=stream over grpc://");
    }

    @Test
    void shouldSendSequences() throws IOException {
        // The model adds 1 to the first of a sequence.
        Path data = Files.writeString(
                folder.resolve("sequence.json"),
                "{\"data\": [[{\"INPUT\": [10]}, {\"INPUT\": [20]}, {\"INPUT\": [30]}]],"
                        + " \"validation_data\": [[{\"OUTPUT\": [11]}, {\"OUTPUT\": [20]}, {\"OUTPUT\": [30]}]]}");
        ServerProcess bench = bench(
                "--model=simple_sequence",
                "--url=" + http() + "," + grpc(),
                "--transport=binary,stream,sealed",
                "--sequence-length=3",
                "--data=" + data);
        // Responses of a stream that lie in shared memory are not compared, and there are none here.
        assertThat(bench.awaitExit(LIMIT)).as(bench.transcript()).isZero();
        assertThat(bench.output()).contains("http binary sealed", "grpc stream", "All answers were as expected.");
    }

    @Test
    void shouldPrintWhatWasMeasuredWhenItIsInterrupted() throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "--model=softmax",
                "--url=" + http(),
                "--shape=scores:1,4",
                "--warm-up=0s",
                "--measurement-interval=1m"));
        ServerProcess bench = ServerProcess.start(arguments, Map.of());
        try (GatunClient client = GatunClient.connect(http())) {
            Await.until("ten requests", () -> answered(client, "softmax") >= 10);
        }
        // As Ctrl-C, whose signal a process that was started in the background ignores.
        bench.signal("TERM");
        bench.awaitExit(LIMIT);
        assertThat(bench.output())
                .as(bench.transcript())
                .contains("http binary", "interrupted; the figures are of what was measured until then");
    }

    @Test
    void shouldSayWhichModelsThereAre() {
        ServerProcess bench = bench("--model=nosuch", "--url=" + http());
        assertThat(bench.awaitExit(LIMIT)).isEqualTo(1);
        assertThat(bench.log())
                .contains(
                        "the server at " + http() + " has no model 'nosuch': expected one of digits, identity_fp32, ");
        assertThat(bench.output()).isEmpty();
    }

    @Test
    void shouldSayThatNobodyListens() {
        ServerProcess bench = bench("--model=simple", "--url=unix:" + folder.resolve("nobody.sock"));
        assertThat(bench.awaitExit(LIMIT)).isEqualTo(1);
        assertThat(bench.log()).contains("the server at unix:" + folder.resolve("nobody.sock") + " cannot be asked");
    }

    @Test
    void shouldExitWithTwoWhereItIsCalledWrongly() {
        ServerProcess bench = bench("--model=simple", "--url=" + http(), "--transport=stream");
        assertThat(bench.awaitExit(LIMIT)).isEqualTo(2);
        assertThat(bench.log()).contains("--transport=stream: " + http() + " cannot do it");
        ServerProcess misspelt = bench("--model=simple", "--concurrency=none");
        assertThat(misspelt.awaitExit(LIMIT)).isEqualTo(2);
        assertThat(misspelt.log()).contains("--concurrency: 'none' is not a list of whole numbers");
    }

    private static ServerProcess bench(String... arguments) {
        List<String> all = new ArrayList<>(List.of("bench"));
        all.addAll(SHORT);
        all.addAll(List.of(arguments));
        return ServerProcess.start(all, Map.of());
    }

    private static String cell(String line, int column) {
        return line.split(",", -1)[column];
    }

    private static long answered(GatunClient client, String model) {
        return client.models().statistics(model, "").stream()
                .mapToLong(ModelStatistics::getInferenceCount)
                .sum();
    }

    /** Inputs of the model {@code simple} and its outputs for them. */
    private static Path simpleData(int addend) throws IOException {
        return Files.writeString(
                folder.resolve("simple.json"),
                "{\"data\": [{\"INPUT0\": [" + numbers(i -> i) + "], \"INPUT1\": [" + numbers(i -> addend)
                        + "]}], \"validation_data\": [{\"OUTPUT0\": [" + numbers(i -> i + addend) + "], \"OUTPUT1\": ["
                        + numbers(i -> i - addend) + "]}]}");
    }

    private static String numbers(IntUnaryOperator number) {
        return IntStream.range(0, 16).map(number).mapToObj(Integer::toString).collect(Collectors.joining(", "));
    }

    private static String http() {
        return server.http("").toString();
    }

    private static String grpc() {
        return "grpc://127.0.0.1:" + server.grpcPort();
    }
}
