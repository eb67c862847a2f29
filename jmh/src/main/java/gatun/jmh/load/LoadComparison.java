// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.memory.regions.SharedMemoryObject;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
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

    private final long pid;
    private final int http;
    private final int grpc;
    private final double seconds;
    private final List<String> words;

    private LoadComparison(long pid, int http, int grpc, double seconds, List<String> words) {
        this.pid = pid;
        this.http = http;
        this.grpc = grpc;
        this.seconds = seconds;
        this.words = words;
    }

    /** Starts the server and runs every comparison. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 10;
        List<String> words = Arrays.stream(arguments).skip(1).toList();
        Path root = Path.of(System.getProperty("gatun.root", "."));
        try (BenchProcess server = BenchProcess.start(root.resolve("examples/models"))) {
            new LoadComparison(server.pid(), server.httpPort(), server.grpcPort(), seconds, words).run();
        }
    }

    private void run() throws IOException, InterruptedException {
        System.out.printf(
                Locale.ROOT, "%-28s %12s %16s %12s%n", "request", "requests/s", "server CPU, us", "of the echo");
        LoadRun.Result httpEcho = http("HTTP echo", Requests.httpEcho());
        print(httpEcho, httpEcho);
        compareHttp("simple, HTTP binary", Requests.httpBinary(), httpEcho);
        compareHttp("simple, HTTP JSON", Requests.httpJson(), httpEcho);
        LoadRun.Result grpcEcho = grpc("gRPC echo", GrpcExchange.ECHO, Requests.grpc());
        print(grpcEcho, grpcEcho);
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

    private void compareHttp(String name, byte[] request, LoadRun.Result echo)
            throws IOException, InterruptedException {
        if (isWanted(name)) {
            print(http(name, request), echo);
        }
    }

    private void compareGrpc(String name, byte[] request, LoadRun.Result echo)
            throws IOException, InterruptedException {
        if (isWanted(name)) {
            print(grpc(name, INFER, request), echo);
        }
    }

    private boolean isWanted(String name) {
        return words.isEmpty() || words.stream().anyMatch(name::contains);
    }

    private LoadRun.Result http(String name, byte[] request) throws IOException, InterruptedException {
        return LoadRun.run(name, pid, CONNECTIONS, WARM_SECONDS, seconds, () -> new HttpExchange(http, request));
    }

    private LoadRun.Result grpc(String name, String method, byte[] request) throws IOException, InterruptedException {
        return LoadRun.run(
                name, pid, CONNECTIONS, WARM_SECONDS, seconds, () -> new GrpcExchange(grpc, method, request));
    }

    private static void print(LoadRun.Result result, LoadRun.Result echo) {
        System.out.printf(
                Locale.ROOT,
                "%-28s %12.0f %16.1f %12.2f%n",
                result.name(),
                result.perSecond(),
                result.cpuMicrosPerRequest(),
                result.cpuMicrosPerRequest() / echo.cpuMicrosPerRequest());
    }

    private void register(String region, SharedMemoryObject object) {
        ManagedChannel channel =
                NettyChannelBuilder.forAddress("127.0.0.1", grpc).usePlaintext().build();
        try {
            GRPCInferenceServiceGrpc.newBlockingStub(channel)
                    .systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                            .setName(region)
                            .setKey(object.key())
                            .setByteSize(object.segment().byteSize())
                            .build());
        } finally {
            channel.shutdownNow();
        }
    }

    /**
     * Identity of 16 MiB from shared memory to shared memory, beside one copy of 16 MiB in this process, taken in turn:
     * the medians of the times, and the server's processor time for each call, which leaves out how long this machine
     * takes to wake threads.
     */
    private void identity(SharedMemoryObject object) throws IOException {
        MemorySegment source = object.segment().asSlice(0, IDENTITY_BYTES);
        MemorySegment target = object.segment().asSlice(IDENTITY_BYTES);
        long[] copies = new long[IDENTITY_CALLS];
        long[] calls = new long[IDENTITY_CALLS];
        ServerCpu cpu = new ServerCpu(pid);
        long cpuBefore;
        try (Exchange exchange = new GrpcExchange(grpc, INFER, Requests.grpcIdentity("load", IDENTITY_BYTES))) {
            long warm = System.nanoTime() + (long) (IDENTITY_WARM_SECONDS * 1e9);
            while (System.nanoTime() < warm) {
                exchange.once();
            }
            cpuBefore = cpu.nanos();
            for (int i = 0; i < IDENTITY_CALLS; i++) {
                long begin = System.nanoTime();
                target.copyFrom(source);
                long copied = System.nanoTime();
                exchange.once();
                long answered = System.nanoTime();
                copies[i] = copied - begin;
                calls[i] = answered - copied;
            }
        }
        double processor = (cpu.nanos() - cpuBefore) / (double) IDENTITY_CALLS;
        double mean = Arrays.stream(copies).average().orElseThrow();
        double copy = median(copies);
        double call = median(calls);
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

    private static double median(long[] nanos) {
        return List.of(Arrays.stream(nanos).sorted().boxed().toArray(Long[]::new))
                .get(nanos.length / 2);
    }
}
