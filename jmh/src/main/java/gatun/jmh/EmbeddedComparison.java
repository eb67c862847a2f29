// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * How much of the engine's throughput is left behind the server's core, without network: {@code digits} run by bare
 * loops of the C API's Run, one for each instance, beside the same model in an embedded server under four clients for
 * each instance, in turn in one process, for requests of several batch sizes. All loops are on virtual threads, as
 * requests are. Each client's pictures are in a buffer of its own, and responses are in pooled buffers.
 *
 * <p>Arguments: seconds of each turn (default 2), turns (default 5).
 */
public final class EmbeddedComparison {
    private static final int INSTANCES = 2;
    private static final int CLIENTS = 4 * INSTANCES;

    /** A loop that runs until the mark is set. */
    private interface Loop {
        void once();
    }

    private EmbeddedComparison() {}

    /** Measures. */
    public static void main(String[] arguments) throws InterruptedException {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 2;
        int turns = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        Path models = BenchmarkFiles.root().resolve("examples/models");
        System.out.printf(
                Locale.ROOT, "%6s %18s %18s %8s%n", "batch", "bare Run, images/s", "server, images/s", "ratio");
        try (BufferPool buffers = new BufferPool(1L << 28);
                SharedRegions regions = SharedRegions.open(buffers);
                Arena arena = Arena.ofShared()) {
            List<NativeSession> sessions = new ArrayList<>();
            for (int batch : new int[] {1, 4, 16, 32}) {
                List<Loop> bare = new ArrayList<>();
                for (int i = 0; i < INSTANCES; i++) {
                    NativeSession session = session(arena, models, batch);
                    sessions.add(session);
                    bare.add(session::run);
                }
                try (GatunServer server =
                        GatunServer.open(ServerOptions.of(buffers, regions).repository(models))) {
                    compare(batch, bare, clients(server, buffers, batch), seconds, turns);
                }
            }
            sessions.forEach(NativeSession::close);
        }
    }

    private static NativeSession session(Arena arena, Path models, int batch) {
        int type = onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT();
        return new NativeSession(
                arena,
                models.resolve("digits/1/model.onnx"),
                List.of(new NativeSession.Slot("image", type, List.of((long) batch, 1L, 28L, 28L))),
                List.of(new NativeSession.Slot("probabilities", type, List.of((long) batch, 10L))));
    }

    private static List<Loop> clients(GatunServer server, BufferPool buffers, int batch) {
        ModelVersion model = server.model("digits", "");
        TensorSpec spec = new TensorSpec("image", Datatype.FP32, Shape.of(batch, 1, 28, 28));
        return IntStream.range(0, CLIENTS)
                .<Loop>mapToObj(client -> () -> {
                    InferenceRequest request = new InferenceRequest(model);
                    Buffer picture = buffers.take(spec.shape().byteSize(Datatype.FP32));
                    request.hold(picture);
                    request.addInput(new Tensor(spec, picture.segment()));
                    server.infer(request).close();
                })
                .toList();
    }

    private static void compare(int batch, List<Loop> bare, List<Loop> clients, double seconds, int turns)
            throws InterruptedException {
        perSecond(bare, seconds);
        perSecond(clients, 2 * seconds);
        double[] bareRates = new double[turns];
        double[] serverRates = new double[turns];
        double[] ratios = new double[turns];
        for (int i = 0; i < turns; i++) {
            bareRates[i] = batch * perSecond(bare, seconds);
            serverRates[i] = batch * perSecond(clients, seconds);
            ratios[i] = serverRates[i] / bareRates[i];
        }
        System.out.printf(
                Locale.ROOT,
                "%6d %18.0f %18.0f %8.2f%n",
                batch,
                Median.of(bareRates),
                Median.of(serverRates),
                Median.of(ratios));
    }

    private static double perSecond(List<Loop> loops, double seconds) throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong done = new AtomicLong();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (Loop loop : loops) {
            threads.add(Thread.startVirtualThread(() -> {
                awaitUninterrupted(go);
                long own = 0;
                while (!stop.get()) {
                    loop.once();
                    own++;
                }
                done.addAndGet(own);
            }));
        }
        long begin = System.nanoTime();
        go.countDown();
        Thread.sleep((long) (seconds * 1000));
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        return done.get() * 1e9 / (System.nanoTime() - begin);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }
}
