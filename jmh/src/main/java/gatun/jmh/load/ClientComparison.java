package gatun.jmh.load;

import com.sun.management.ThreadMXBean;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.memory.Datatype;
import gatun.memory.Shape;
import gatun.memory.SharedMemoryObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * The Java client over a Unix socket beside a loop that writes and reads the same bytes on a socket of its own, in turn, to the same server
 * process: latency, and the heap that a call of the client takes.
 */
final class ClientComparison {
    private static final int CALLS = 3_000;
    private static final int WARM_UP_TURNS = 4;
    private static final ThreadMXBean MEMORY = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private ClientComparison() {}

    /** Arguments: turns (default 15). */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 15;
        Path scratch = Files.createTempDirectory("gatun");
        Path socket = scratch.resolve("http.sock");
        Process server = serve(socket);
        try (GatunClient client = GatunClient.connect("unix:" + socket);
                Arena arena = Arena.ofShared();
                SharedMemoryObject object = SharedMemoryObject.sealed(1 << 20)) {
            client.regions().register("bench", object.key(), 0, 1 << 20);
            System.out.printf(
                    "%-24s %10s %12s %12s %8s %12s%n",
                    "request", "bytes", "socket, ns", "client, ns", "ratio", "heap, bytes");
            InferRequest inRegion = InferRequest.to("tensor_shape")
                    .inputInRegion("DATA", Datatype.FP32, Shape.of(1 << 18), "bench", 0, 1 << 20)
                    .build();
            compare("1 MiB in shared memory", client, RecordedExchange.of(socket, scratch, inRegion), inRegion, turns);
            for (int kib : new int[] {1, 16, 256, 1024}) {
                InferRequest sent = InferRequest.to("tensor_shape")
                        .input("DATA", Datatype.FP32, arena.allocate(kib * 1024L, 64), kib * 256L)
                        .build();
                compare(kib + " KiB sent", client, RecordedExchange.of(socket, scratch, sent), sent, turns);
            }
        } finally {
            server.destroy();
            server.waitFor();
            Files.deleteIfExists(socket);
            Files.deleteIfExists(scratch);
        }
    }

    private static void compare(
            String what, GatunClient client, RecordedExchange exchange, InferRequest request, int turns)
            throws IOException {
        try (exchange) {
            long[] socketNanos = new long[CALLS];
            long[] clientNanos = new long[CALLS];
            double[] sockets = new double[turns];
            double[] clients = new double[turns];
            double[] ratios = new double[turns];
            long heap = 0;
            for (int turn = -WARM_UP_TURNS; turn < turns; turn++) {
                for (int i = 0; i < CALLS; i++) {
                    long begin = System.nanoTime();
                    exchange.call();
                    socketNanos[i] = System.nanoTime() - begin;
                }
                long before = MEMORY.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < CALLS; i++) {
                    long begin = System.nanoTime();
                    client.infer(request).close();
                    clientNanos[i] = System.nanoTime() - begin;
                }
                heap = (MEMORY.getCurrentThreadAllocatedBytes() - before) / CALLS;
                if (turn >= 0) {
                    sockets[turn] = median(socketNanos);
                    clients[turn] = median(clientNanos);
                    ratios[turn] = clients[turn] / sockets[turn];
                }
            }
            Arrays.sort(sockets);
            Arrays.sort(clients);
            Arrays.sort(ratios);
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %10d %12.0f %12.0f %8.2f %12d%n",
                    what,
                    exchange.requestBytes(),
                    sockets[turns / 2],
                    clients[turns / 2],
                    ratios[turns / 2],
                    heap);
        }
    }

    private static double median(long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 2];
    }

    /** The server itself, with the repository for measuring. */
    private static Process serve(Path socket) throws IOException {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseParallelGC",
                        "-Xmx512m",
                        "-Djdk.readPollers=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "gatun.server.Main",
                        "serve",
                        "--model-repository=" + Path.of(System.getProperty("gatun.root"), "examples", "models-bench"),
                        "--http-port=0",
                        "--allow-grpc=false",
                        "--allow-metrics=false",
                        "--http-unix-socket=" + socket,
                        "--allow-client-shm")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("Ready")) {
                return process;
            }
        }
        throw new IllegalStateException("the server did not start");
    }
}
