package gatun.jmh.load;

import com.google.protobuf.ByteString;
import gatun.protocol.inference.ModelInferRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What dynamic batching gains: {@code digits}, whose engine gains little from it, a network of 784-512-256-10, and one of 784-2048-2048-10,
 * whose 23 MB of weights are read for each batch; each with and without {@code dynamic_batching}, over gRPC under one client and under 32. Prints requests a second, server CPU for each request, and for one
 * client the time it waits.
 *
 * <p>Arguments: seconds to measure each (default 10).
 */
public final class BatchingComparison {
    private static final String INFER = "inference.GRPCInferenceService/ModelInfer";
    private static final int MANY = 32;
    private static final double WARM_SECONDS = 4;
    private static final int PIXELS = 28 * 28;

    private BatchingComparison() {}

    /** Builds the models, starts the server and measures. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 10;
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
                    compare(server, model, 1, seconds);
                    compare(server, model, MANY, seconds);
                }
            }
        } finally {
            delete(repository);
        }
    }

    private static void compare(BenchProcess server, String model, int clients, double seconds)
            throws IOException, InterruptedException {
        for (String name : List.of(model + "_single", model + "_batched")) {
            byte[] request = request(name, model);
            LoadRun.Result result = LoadRun.run(
                    name,
                    server.pid(),
                    clients,
                    WARM_SECONDS,
                    seconds,
                    () -> new GrpcExchange(server.grpcPort(), INFER, request));
            System.out.printf(
                    Locale.ROOT,
                    "%-20s %8d %12.0f %16.1f %14.1f%n",
                    name,
                    clients,
                    result.perSecond(),
                    result.cpuMicrosPerRequest(),
                    clients * 1e6 / result.perSecond());
        }
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
