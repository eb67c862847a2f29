// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bench.data.DataPlan;
import gatun.bench.data.DataSet;
import gatun.bench.data.GeneratedTensors;
import gatun.bench.data.InputShapes;
import gatun.bench.data.ModelDescription;
import gatun.bench.endpoint.LoadTransport;
import gatun.bench.endpoint.V2Models;
import gatun.bench.endpoint.V2Target;
import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Target;
import gatun.client.GatunClient;
import gatun.jmh.Median;
import gatun.jmh.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The gain of dynamic batching: {@code digits}, whose engine gains little from it, a network of 784-512-256-10, and one
 * of 784-2048-2048-10, whose 23 MB of weights are read for each batch; each with and without {@code dynamic_batching},
 * over gRPC under one client and under 32. The two take turns, since what the machine has left for either changes; what
 * is printed of requests a second, server CPU for each request, and the time that a client waits, are medians of the
 * turns.
 *
 * <p>Arguments: seconds to measure each in a turn (default 5), turns (default 5).
 */
public final class BatchingComparison {
    private static final int MANY = 32;
    private static final double FIRST_WARM_SECONDS = 4;
    private static final double WARM_SECONDS = 0.5;
    private static final int PIXELS = 28 * 28;

    /** One element of zeros for each input, in batches of one. */
    private static final DataPlan ZEROS = new DataPlan(
            new InputShapes(Map.of(), 1),
            new GeneratedTensors(false, Optional.empty(), 1, 1),
            Optional.empty(),
            Optional.empty(),
            0,
            1);

    private BatchingComparison() {}

    /**
     * Clients of {@code gatun bench}, each with a connection of its own, that send the same data to one model. Owns the
     * clients and the data.
     */
    private record Clients(List<V2Target> targets, DataSet data) implements Target {
        static Clients connect(BenchProcess server, String name, int count) {
            String url = "grpc://127.0.0.1:" + server.grpcPort();
            LoadTransport transport = new LoadTransport(LoadTransport.Wire.GRPC, LoadTransport.Placement.SENT);
            ModelDescription model;
            try (GatunClient client = GatunClient.connect(url)) {
                model = V2Models.describe(client, name, "");
            }
            DataSet data = ZEROS.open(model);
            List<V2Target> targets = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                targets.add(V2Target.open(GatunClient.connect(url), transport, model, "", data, false));
            }
            return new Clients(targets, data);
        }

        @Override
        public Caller caller(int worker) {
            return targets.get(worker).caller(worker);
        }

        @Override
        public Optional<ServerCounters> counters() {
            return Optional.empty();
        }

        @Override
        public void close() {
            targets.forEach(V2Target::close);
            data.close();
        }
    }

    /** Builds the models, starts the server and measures. */
    public static void main(String[] arguments) throws IOException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 5;
        int turns = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        Path repository = Files.createTempDirectory("gatun-batching");
        try {
            Path digits = Path.of(System.getProperty("gatun.root", ".")).resolve("examples/models/digits");
            for (boolean batching : new boolean[] {false, true}) {
                addDigits(repository, digits, batching);
                addNetwork(repository, "network", batching, 512, 256);
                addNetwork(repository, "wide", batching, 2048, 2048);
            }
            try (BenchProcess server = BenchProcess.start(repository)) {
                System.out.printf(
                        Locale.ROOT,
                        "%-20s %8s %12s %16s %14s%n",
                        "model",
                        "clients",
                        "requests/s",
                        "server CPU, us",
                        "latency, us");
                for (String model : List.of("digits", "network", "wide")) {
                    compare(server, model, 1, seconds, turns);
                    compare(server, model, MANY, seconds, turns);
                }
            }
        } finally {
            ServerProcess.delete(repository);
        }
    }

    private static void compare(BenchProcess server, String model, int count, double seconds, int turns) {
        LoadedServer load = server.underLoad();
        List<String> names = List.of(model + "_single", model + "_batched");
        List<List<LoadedServer.Result>> results = List.of(new ArrayList<>(), new ArrayList<>());
        try (Clients single = Clients.connect(server, names.get(0), count);
                Clients batched = Clients.connect(server, names.get(1), count)) {
            List<Clients> clients = List.of(single, batched);
            for (Clients each : clients) {
                load.measure(each, count, 0, FIRST_WARM_SECONDS);
            }
            for (int turn = 0; turn < turns; turn++) {
                for (int i = 0; i < names.size(); i++) {
                    results.get(i).add(load.measure(clients.get(i), count, WARM_SECONDS, seconds));
                }
            }
        }
        for (int i = 0; i < names.size(); i++) {
            double perSecond =
                    Median.of(results.get(i), result -> result.window().perSecond());
            System.out.printf(
                    Locale.ROOT,
                    "%-20s %8d %12.0f %16.1f %14.1f%n",
                    names.get(i),
                    count,
                    perSecond,
                    Median.of(results.get(i), LoadedServer.Result::cpuMicrosPerRequest),
                    count * 1e6 / perSecond);
        }
    }

    private static void addDigits(Path repository, Path digits, boolean batching) throws IOException {
        String name = batching ? "digits_batched" : "digits_single";
        Path folder = repository.resolve(name);
        Files.createDirectories(folder.resolve("1"));
        Files.copy(digits.resolve("1/model.onnx"), folder.resolve("1/model.onnx"));
        Files.copy(digits.resolve("labels.txt"), folder.resolve("labels.txt"));
        String config = Files.readString(digits.resolve("config.pbtxt")).replace("\"digits\"", "\"" + name + "\"");
        Files.writeString(folder.resolve("config.pbtxt"), config + (batching ? "dynamic_batching { }\n" : ""));
    }

    private static void addNetwork(Path repository, String model, boolean batching, int first, int second)
            throws IOException {
        String name = model + (batching ? "_batched" : "_single");
        Path folder = repository.resolve(name);
        NetworkFile.write(folder.resolve("1/model.onnx"), PIXELS, first, second, 10);
        String config = """
                name: "%s"
                platform: "onnxruntime_onnx"
                max_batch_size: 32
                input [ { name: "input" data_type: TYPE_FP32 dims: [ %d ] } ]
                output [ { name: "output" data_type: TYPE_FP32 dims: [ 10 ] } ]
                """.formatted(name, PIXELS);
        Files.write(
                folder.resolve("config.pbtxt"),
                (config + (batching ? "dynamic_batching { }\n" : "")).getBytes(StandardCharsets.UTF_8));
    }
}
