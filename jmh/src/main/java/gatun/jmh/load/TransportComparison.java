// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.jmh.Median;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Each transport under 1, 8 and 64 clients, small requests and tensors of 1 MiB, in turn with a bare echo that reads
 * the same bytes on the same listener and sends them back. Prints the medians of the turns: requests a second,
 * latencies, server CPU and bytes of the server's heap for each request, and the ratio of the CPU to the echo's in the
 * same turn.
 *
 * <p>Arguments: seconds of a turn (default 3), number of turns (default 5), and words that the names of the kinds must
 * contain to be measured.
 */
public final class TransportComparison {
    private static final int[] CLIENTS = {1, 8, 64};
    private static final int LARGE = 1 << 20;
    private static final double WARM_SECONDS = 8;
    /** Seconds at the start of a turn that do not count, while connections are opened. */
    private static final double SETTLE_SECONDS = 0.5;

    private static final String INFER = "inference.GRPCInferenceService/ModelInfer";

    private final BenchProcess server;
    private final LoadedServer load;
    private final double seconds;
    private final int turns;

    private TransportComparison(BenchProcess server, double seconds, int turns) {
        this.server = server;
        this.load = server.underLoad();
        this.seconds = seconds;
        this.turns = turns;
    }

    /** A request and the echo of the same size. */
    private record Kind(String name, PreparedTarget.Opener request, PreparedTarget.Opener echo) {}

    /** Starts the server and runs every comparison. */
    public static void main(String[] arguments) throws IOException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 3;
        int turns = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        List<String> words = Arrays.stream(arguments).skip(2).toList();
        Path root = Path.of(System.getProperty("gatun.root", "."));
        try (BenchProcess server = BenchProcess.start(root.resolve("examples/models"))) {
            new TransportComparison(server, seconds, turns).run(words);
        }
    }

    private List<Kind> kinds() {
        int http = server.httpPort();
        int grpc = server.grpcPort();
        return List.of(
                new Kind(
                        "HTTP JSON",
                        () -> new HttpExchange(http, Requests.httpJson()),
                        () -> new HttpExchange(http, Requests.httpJsonEcho())),
                new Kind(
                        "HTTP binary",
                        () -> new HttpExchange(http, Requests.httpBinary()),
                        () -> new HttpExchange(http, Requests.httpEcho())),
                new Kind(
                        "gRPC",
                        () -> new GrpcExchange(grpc, INFER, Requests.grpc()),
                        () -> new GrpcExchange(grpc, GrpcExchange.ECHO, Requests.grpc())),
                new Kind(
                        "HTTP binary, 1 MiB",
                        () -> new HttpExchange(http, Requests.httpLarge("/v2/models/identity_fp32/infer", LARGE)),
                        () -> new HttpExchange(http, Requests.httpLarge("/echo", LARGE))),
                new Kind(
                        "gRPC, 1 MiB",
                        () -> new GrpcExchange(grpc, INFER, Requests.grpcLarge(LARGE)),
                        () -> new GrpcExchange(grpc, GrpcExchange.ECHO, Requests.grpcLarge(LARGE))));
    }

    private void run(List<String> words) {
        System.out.printf(
                "%-20s %8s %11s %9s %9s %14s %12s %12s%n",
                "request",
                "clients",
                "requests/s",
                "p50, us",
                "p99, us",
                "server CPU, us",
                "of the echo",
                "heap, bytes");
        for (Kind kind : kinds()) {
            if (words.isEmpty() || words.stream().anyMatch(kind.name()::contains)) {
                turn(8, WARM_SECONDS, kind.echo());
                turn(8, WARM_SECONDS, kind.request());
                for (int clients : CLIENTS) {
                    compare(kind, clients);
                }
            }
        }
    }

    private void compare(Kind kind, int clients) {
        List<LoadedServer.Result> echoes = new ArrayList<>();
        List<LoadedServer.Result> requests = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            echoes.add(turn(clients, seconds, kind.echo()));
            requests.add(turn(clients, seconds, kind.request()));
            ratios.add(
                    requests.getLast().cpuMicrosPerRequest() / echoes.getLast().cpuMicrosPerRequest());
        }
        print(kind.name() + ", echo", clients, echoes, 1);
        print(kind.name(), clients, requests, Median.of(ratios, ratio -> ratio));
    }

    private LoadedServer.Result turn(int clients, double length, PreparedTarget.Opener opener) {
        return load.measure(new PreparedTarget(opener), clients, SETTLE_SECONDS, length);
    }

    private static void print(String name, int clients, List<LoadedServer.Result> turns, double ratio) {
        System.out.printf(
                Locale.ROOT,
                "%-20s %8d %11.0f %9.0f %9.0f %14.1f %12.2f %12.0f%n",
                name,
                clients,
                Median.of(turns, turn -> turn.window().perSecond()),
                Median.of(turns, turn -> turn.percentileMicros(50)),
                Median.of(turns, turn -> turn.percentileMicros(99)),
                Median.of(turns, LoadedServer.Result::cpuMicrosPerRequest),
                ratio,
                Median.of(turns, LoadedServer.Result::heapBytesPerRequest));
    }
}
