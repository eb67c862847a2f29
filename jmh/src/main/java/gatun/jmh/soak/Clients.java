// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferSequence;
import gatun.client.Retries;
import gatun.client.SharedTensors;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** One well-meaning client for each transport. Owns its connections. */
final class Clients implements AutoCloseable {
    private static final int ELEMENTS = 16;
    private static final int FLOATS = 64 << 10;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final List<Traffic> traffic = new ArrayList<>();

    Clients(SoakServer server) {
        String http = "http://127.0.0.1:" + server.httpPort();
        String grpc = "grpc://127.0.0.1:" + server.grpcPort();
        add("HTTP binary", simple(connect(http, true)));
        add("HTTP JSON", simple(connect(http, false)));
        add("HTTP over a Unix socket", simple(connect("unix:" + server.folder().resolve("http.sock"), true)));
        add("HTTP, 256 KiB", floats(connect(http, true)));
        add("gRPC", simple(connect(grpc, true)));
        add(
                "gRPC over a Unix socket",
                simple(connect("grpc+unix:" + server.folder().resolve("grpc.sock"), true)));
        add("gRPC, 256 KiB", floats(connect(grpc, true)));
        add("sequences", sequences(connect(grpc, true)));
        add("TensorFlow Serving's REST", rows(URI.create(http + "/v1/models/simple:predict")));
        add(
                "POSIX shared memory",
                shared(SharedTensors.posix(connect(http, true), "simple").open()));
        add(
                "sealed shared memory",
                shared(SharedTensors.sealed(connect("unix:" + server.folder().resolve("http.sock"), true), "simple")
                        .open()));
    }

    List<Traffic> traffic() {
        return traffic;
    }

    private void add(String name, Traffic.Exchange exchange) {
        traffic.add(new Traffic(name, exchange));
    }

    /** Without retries, so that each failure is seen. */
    private GatunClient connect(String url, boolean binary) {
        GatunClient client = GatunClient.connect(ClientOptions.of(url)
                .withBinaryTensors(binary)
                .withRetries(Retries.NONE)
                .withDeadline(LIMIT));
        opened.push(client::close);
        return client;
    }

    private static int[] values(int round) {
        int[] values = new int[ELEMENTS];
        Arrays.setAll(values, i -> round + i);
        return values;
    }

    private static boolean isSum(int[] sums, int round) {
        for (int i = 0; i < ELEMENTS; i++) {
            if (sums[i] != 2 * (round + i)) {
                return false;
            }
        }
        return sums.length == ELEMENTS;
    }

    private static Traffic.Exchange simple(GatunClient client) {
        AtomicInteger rounds = new AtomicInteger();
        return () -> {
            int round = rounds.incrementAndGet();
            int[] values = values(round);
            try (InferResponse response = client.infer(
                    "simple",
                    ArrayTensors.of("INPUT0", values, 1, ELEMENTS),
                    ArrayTensors.of("INPUT1", values, 1, ELEMENTS))) {
                return isSum(response.ints("OUTPUT0"), round);
            }
        };
    }

    private static Traffic.Exchange floats(GatunClient client) {
        AtomicInteger rounds = new AtomicInteger();
        return () -> {
            float[] values = new float[FLOATS];
            Arrays.fill(values, rounds.incrementAndGet());
            try (InferResponse response = client.infer("identity_fp32", ArrayTensors.of("INPUT0", values))) {
                return Arrays.equals(response.floats("OUTPUT0"), values);
            }
        };
    }

    /** Sequences of three steps; the model adds one in the first step of each. */
    private static Traffic.Exchange sequences(GatunClient client) {
        return () -> {
            InferSequence sequence = client.sequence("simple_sequence");
            boolean right = true;
            for (int step = 0; step < 3; step++) {
                InferRequest.Builder request =
                        InferRequest.to("simple_sequence").input("INPUT", new int[] {10 + step}, 1, 1);
                try (InferResponse response = step == 2 ? sequence.last(request) : sequence.next(request)) {
                    right &= response.ints("OUTPUT")[0] == 10 + step + (step == 0 ? 1 : 0);
                }
            }
            return right;
        };
    }

    private Traffic.Exchange rows(URI predict) {
        HttpClient client = HttpClient.newHttpClient();
        opened.push(client::close);
        AtomicInteger rounds = new AtomicInteger();
        return () -> {
            int round = rounds.incrementAndGet();
            String values = Arrays.toString(values(round));
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(predict)
                            .timeout(LIMIT)
                            .POST(HttpRequest.BodyPublishers.ofString(String.format(
                                    Locale.ROOT, "{\"instances\":[{\"INPUT0\":%s,\"INPUT1\":%s}]}", values, values)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IllegalStateException(response.statusCode() + ": " + response.body());
            }
            int[] sums = new int[ELEMENTS];
            Arrays.setAll(sums, i -> 2 * (round + i));
            return response.body()
                    .replaceAll("\\s", "")
                    .contains(Arrays.toString(sums).replace(" ", ""));
        };
    }

    private Traffic.Exchange shared(SharedTensors tensors) {
        opened.push(tensors::close);
        AtomicInteger rounds = new AtomicInteger();
        return () -> {
            int round = rounds.incrementAndGet();
            int[] values = values(round);
            tensors.set("INPUT0", values);
            tensors.set("INPUT1", values);
            tensors.infer();
            return isSum(tensors.ints("OUTPUT0"), round);
        };
    }

    @Override
    public void close() {
        traffic.forEach(Traffic::stop);
        opened.forEach(Runnable::run);
    }
}
