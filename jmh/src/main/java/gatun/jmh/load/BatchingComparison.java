// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.google.protobuf.ByteString;
import gatun.wire.inference.ModelInferRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

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
    private static final String INFER = "inference.GRPCInferenceService/ModelInfer";
    private static final int MANY = 32;
    private static final double FIRST_WARM_SECONDS = 4;
    private static final double WARM_SECONDS = 0.5;
    private static final int PIXELS = 28 * 28;

    private BatchingComparison() {}

    /** Builds the models, starts the server and measures. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
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
            delete(repository);
        }
    }

    private static void compare(BenchProcess server, String model, int clients, double seconds, int turns)
            throws IOException, InterruptedException {
        List<String> names = List.of(model + "_single", model + "_batched");
        List<List<LoadRun.Result>> results = List.of(new ArrayList<>(), new ArrayList<>());
        for (String name : names) {
            run(server, name, model, clients, 0, FIRST_WARM_SECONDS);
        }
        for (int turn = 0; turn < turns; turn++) {
            for (int i = 0; i < names.size(); i++) {
                results.get(i).add(run(server, names.get(i), model, clients, WARM_SECONDS, seconds));
            }
        }
        for (int i = 0; i < names.size(); i++) {
            double perSecond = median(results.get(i), LoadRun.Result::perSecond);
            System.out.printf(
                    Locale.ROOT,
                    "%-20s %8d %12.0f %16.1f %14.1f%n",
                    names.get(i),
                    clients,
                    perSecond,
                    median(results.get(i), LoadRun.Result::cpuMicrosPerRequest),
                    clients * 1e6 / perSecond);
        }
    }

    private static LoadRun.Result run(
            BenchProcess server, String name, String model, int clients, double warmSeconds, double seconds)
            throws IOException, InterruptedException {
        byte[] request = request(name, model);
        return LoadRun.run(
                name,
                server.pid(),
                clients,
                warmSeconds,
                seconds,
                () -> new GrpcExchange(server.grpcPort(), INFER, request));
    }

    private static double median(List<LoadRun.Result> results, ToDoubleFunction<LoadRun.Result> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static byte[] request(String name, String model) {
        ModelInferRequest.InferInputTensor.Builder input = ModelInferRequest.InferInputTensor.newBuilder()
                .setName(model.equals("digits") ? "image" : "input")
                .setDatatype("FP32")
                .addShape(1);
        if (model.equals("digits")) {
            input.addShape(1).addShape(28).addShape(28);
        } else {
            input.addShape(PIXELS);
        }
        return ModelInferRequest.newBuilder()
                .setModelName(name)
                .addInputs(input)
                .addRawInputContents(ByteString.copyFrom(new byte[PIXELS * Float.BYTES]))
                .build()
                .toByteArray();
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

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(file);
            }
        }
    }
}
