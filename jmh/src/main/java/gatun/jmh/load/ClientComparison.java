// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.sun.management.ThreadMXBean;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.jmh.Median;
import gatun.jmh.ServerProcess;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The Java client over a Unix socket beside a loop that writes and reads the same bytes on a socket of its own, call by
 * call in turn, to the same server process: latency, and the heap that a call of the client takes. Then tensors of
 * several sizes in shared memory, in turn too.
 */
final class ClientComparison {
    private static final int CALLS = 3_000;
    private static final int WARM_UP_TURNS = 4;
    private static final int[] SHARED_KIB = {1, 16, 256, 1024, 16_384};
    private static final long LARGEST = 16L << 20;
    private static final ThreadMXBean MEMORY = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private ClientComparison() {}

    /** Arguments: turns (default 15). */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 15;
        Path scratch = Files.createTempDirectory("gatun");
        Path socket = scratch.resolve("http.sock");
        ServerProcess server = serve(scratch, socket);
        try (GatunClient client = GatunClient.connect("unix:" + socket);
                Arena arena = Arena.ofShared();
                SharedMemoryObject object = SharedMemoryObject.sealed(LARGEST);
                SharedMemoryObject posix = SharedMemoryObject.posix(
                        "/gatun-bench-" + ProcessHandle.current().pid(), LARGEST)) {
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
            client.regions().unregister("bench");
            System.out.printf("%n%-24s %10s %12s %12s %8s%n", "in shared memory", "bytes", "", "client, ns", "ratio");
            flatness("sealed memfd", client, object, turns);
            flatness("POSIX object", client, posix, turns);
        } finally {
            server.close();
            ServerProcess.delete(scratch);
        }
    }

    /** Calls by both ways in turn, so that both meet the same moments of the machine. */
    private static void compare(
            String what, GatunClient client, RecordedExchange exchange, InferRequest request, int turns)
            throws IOException {
        try (exchange) {
            long[] socketNanos = new long[CALLS];
            long[] clientNanos = new long[CALLS];
            double[] sockets = new double[turns];
            double[] clients = new double[turns];
            double[] ratios = new double[turns];
            for (int turn = -WARM_UP_TURNS; turn < turns; turn++) {
                for (int i = 0; i < CALLS; i++) {
                    long begin = System.nanoTime();
                    exchange.call();
                    long between = System.nanoTime();
                    client.infer(request).close();
                    clientNanos[i] = System.nanoTime() - between;
                    socketNanos[i] = between - begin;
                }
                if (turn >= 0) {
                    sockets[turn] = Median.of(socketNanos);
                    clients[turn] = Median.of(clientNanos);
                    ratios[turn] = clients[turn] / sockets[turn];
                }
            }
            long before = MEMORY.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                client.infer(request).close();
            }
            long heap = (MEMORY.getCurrentThreadAllocatedBytes() - before) / CALLS;
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %10d %12.0f %12.0f %8.2f %12d%n",
                    what,
                    exchange.requestBytes(),
                    Median.of(sockets),
                    Median.of(clients),
                    Median.of(ratios),
                    heap);
        }
    }

    /** Tensors of several sizes in shared memory, one call of each in turn. */
    private static void flatness(String kind, GatunClient client, SharedMemoryObject object, int turns) {
        client.regions().register("flat", object.key(), 0, LARGEST);
        InferRequest[] requests = new InferRequest[SHARED_KIB.length];
        for (int k = 0; k < requests.length; k++) {
            long byteSize = SHARED_KIB[k] * 1024L;
            requests[k] = InferRequest.to("tensor_shape")
                    .inputInRegion("DATA", Datatype.FP32, Shape.of(byteSize / Float.BYTES), "flat", 0, byteSize)
                    .build();
        }
        long[][] nanos = new long[requests.length][CALLS];
        double[][] medians = new double[requests.length][turns];
        for (int turn = -WARM_UP_TURNS; turn < turns; turn++) {
            for (int i = 0; i < CALLS; i++) {
                for (int k = 0; k < requests.length; k++) {
                    // Each size comes after each other one as often.
                    int size = (k + i) % requests.length;
                    long begin = System.nanoTime();
                    client.infer(requests[size]).close();
                    nanos[size][i] = System.nanoTime() - begin;
                }
            }
            for (int k = 0; k < requests.length && turn >= 0; k++) {
                medians[k][turn] = Median.of(nanos[k]);
            }
        }
        client.regions().unregister("flat");
        double smallest = Median.of(medians[0]);
        for (int k = 0; k < requests.length; k++) {
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %10d %12s %12.0f %8.2f%n",
                    kind,
                    SHARED_KIB[k] * 1024L,
                    "",
                    Median.of(medians[k]),
                    Median.of(medians[k]) / smallest);
        }
    }

    /** The server itself, with the repository for measuring. */
    private static ServerProcess serve(Path scratch, Path socket) throws IOException, InterruptedException {
        return ServerProcess.serve(
                scratch,
                List.of("-Xmx512m", "-Djdk.readPollers=1"),
                List.of(
                        "--model-repository=" + Path.of(System.getProperty("gatun.root"), "examples", "models-bench"),
                        "--http-port=0",
                        "--allow-grpc=false",
                        "--allow-metrics=false",
                        "--http-unix-socket=" + socket,
                        "--allow-client-shm"));
    }
}
