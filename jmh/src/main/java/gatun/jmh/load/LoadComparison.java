// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.client.GatunClient;
import gatun.jmh.Median;
import gatun.memory.regions.SharedMemoryObject;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Loads a real server process with eight connections, one kind of request after the other, and prints requests a
 * second, server CPU for each request, and the ratio to a bare echo of the same bytes on the same listener in the same
 * run.
 *
 * <p>Arguments: seconds to measure each kind (default 10), and words that the names of the kinds must contain to be
 * measured; the echoes always are.
 */
public final class LoadComparison {
    private static final int CONNECTIONS = 8;
    private static final double WARM_SECONDS = 6;
    /** The longer, because one connection makes few calls a second, and each must pass the compiler's thresholds. */
    private static final double IDENTITY_WARM_SECONDS = 20;

    private static final String INFER = "inference.GRPCInferenceService/ModelInfer";
    private static final long IDENTITY_BYTES = 16L << 20;
    private static final int IDENTITY_CALLS = 5000;

    private final BenchProcess server;
    private final LoadedServer load;
    private final double seconds;
    private final List<String> words;

    private LoadComparison(BenchProcess server, double seconds, List<String> words) {
        this.server = server;
        this.load = server.underLoad();
        this.seconds = seconds;
        this.words = words;
    }

    /** Starts the server and runs every comparison. */
    public static void main(String[] arguments) throws IOException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 10;
        List<String> words = Arrays.stream(arguments).skip(1).toList();
        Path root = Path.of(System.getProperty("gatun.root", "."));
        try (BenchProcess server = BenchProcess.start(root.resolve("examples/models"))) {
            new LoadComparison(server, seconds, words).run();
        }
    }

    private void run() throws IOException {
        System.out.printf(
                Locale.ROOT, "%-28s %12s %16s %12s%n", "request", "requests/s", "server CPU, us", "of the echo");
        LoadedServer.Result httpEcho = http(Requests.httpEcho());
        print("HTTP echo", httpEcho, httpEcho);
        compareHttp("simple, HTTP binary", Requests.httpBinary(), httpEcho);
        compareHttp("simple, HTTP JSON", Requests.httpJson(), httpEcho);
        LoadedServer.Result grpcEcho = grpc(GrpcExchange.ECHO, Requests.grpc());
        print("gRPC echo", grpcEcho, grpcEcho);
        compareGrpc("simple, gRPC", Requests.grpc(), grpcEcho);
        try (SharedMemoryObject object = SharedMemoryObject.posix(
                "/gatun-load-" + ProcessHandle.current().pid(), 2 * IDENTITY_BYTES)) {
            object.segment().fill((byte) 1);
            register("load", object);
            compareGrpc("simple, gRPC, shared memory", Requests.grpcSharedMemory("load"), grpcEcho);
            if (isWanted("identity of 16 MiB")) {
                identity(object);
            }
        }
    }

    private void compareHttp(String name, byte[] request, LoadedServer.Result echo) {
        if (isWanted(name)) {
            print(name, http(request), echo);
        }
    }

    private void compareGrpc(String name, byte[] request, LoadedServer.Result echo) {
        if (isWanted(name)) {
            print(name, grpc(INFER, request), echo);
        }
    }

    private boolean isWanted(String name) {
        return words.isEmpty() || words.stream().anyMatch(name::contains);
    }

    private LoadedServer.Result http(byte[] request) {
        return measure(() -> new HttpExchange(server.httpPort(), request));
    }

    private LoadedServer.Result grpc(String method, byte[] request) {
        return measure(() -> new GrpcExchange(server.grpcPort(), method, request));
    }

    private LoadedServer.Result measure(PreparedTarget.Opener opener) {
        return load.measure(new PreparedTarget(opener), CONNECTIONS, WARM_SECONDS, seconds);
    }

    private static void print(String name, LoadedServer.Result result, LoadedServer.Result echo) {
        System.out.printf(
                Locale.ROOT,
                "%-28s %12.0f %16.1f %12.2f%n",
                name,
                result.window().perSecond(),
                result.cpuMicrosPerRequest(),
                result.cpuMicrosPerRequest() / echo.cpuMicrosPerRequest());
    }

    private void register(String region, SharedMemoryObject object) {
        try (GatunClient client = GatunClient.connect("grpc://127.0.0.1:" + server.grpcPort())) {
            client.regions().register(region, object.key(), 0, object.segment().byteSize());
        }
    }

    /**
     * Identity of 16 MiB from shared memory to shared memory, beside one copy of 16 MiB in this process, taken in turn:
     * the medians of the times, and the server's processor time for each call, which leaves out how long this machine
     * takes to wake threads.
     */
    private void identity(SharedMemoryObject object) {
        MemorySegment source = object.segment().asSlice(0, IDENTITY_BYTES);
        MemorySegment target = object.segment().asSlice(IDENTITY_BYTES);
        long[] copies = new long[IDENTITY_CALLS];
        long[] calls = new long[IDENTITY_CALLS];
        ServerCpu cpu = new ServerCpu(server.pid());
        long cpuBefore;
        try (Exchange exchange =
                new GrpcExchange(server.grpcPort(), INFER, Requests.grpcIdentity("load", IDENTITY_BYTES))) {
            long warm = System.nanoTime() + (long) (IDENTITY_WARM_SECONDS * 1e9);
            while (System.nanoTime() < warm) {
                exchange.call();
            }
            cpuBefore = cpu.nanos();
            for (int i = 0; i < IDENTITY_CALLS; i++) {
                long begin = System.nanoTime();
                target.copyFrom(source);
                long copied = System.nanoTime();
                exchange.call();
                long answered = System.nanoTime();
                copies[i] = copied - begin;
                calls[i] = answered - copied;
            }
        }
        double processor = (cpu.nanos() - cpuBefore) / (double) IDENTITY_CALLS;
        double mean = Arrays.stream(copies).average().orElseThrow();
        double copy = Median.of(copies);
        double call = Median.of(calls);
        System.out.printf(
                Locale.ROOT,
                "identity of 16 MiB in shared memory, over gRPC: server CPU %.2f ms, one copy of 16 MiB %.2f ms,"
                        + " ratio %.2f;"
                        + " median latency %.2f ms, of a copy %.2f ms, ratio %.2f%n",
                processor / 1e6,
                mean / 1e6,
                processor / mean,
                call / 1e6,
                copy / 1e6,
                call / copy);
    }
}
