// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import com.sun.management.ThreadMXBean;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/**
 * Bytes of the Java heap that a request takes, without network: the model {@code simple} in an embedded server, alone
 * and in batches that form under several clients. The allocation for making the request itself is counted too, and
 * printed beside it. Prints bytes for each request, from the JVM's own count for all threads, and the requests in a
 * batch.
 *
 * <p>Arguments: requests of each client (default 200,000).
 */
public final class AllocationPerRequest {
    private static final String CONFIG = """
            platform: "onnxruntime_onnx"
            max_batch_size: 8
            input [
              { name: "INPUT0" data_type: TYPE_INT32 dims: [ 16 ] },
              { name: "INPUT1" data_type: TYPE_INT32 dims: [ 16 ] }
            ]
            output [
              { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 16 ] },
              { name: "OUTPUT1" data_type: TYPE_INT32 dims: [ 16 ] }
            ]
            instance_group [ { kind: KIND_CPU count: 1 } ]
            """;
    private static final TensorSpec[] INPUTS = {
        new TensorSpec("INPUT0", Datatype.INT32, Shape.of(1, 16)),
        new TensorSpec("INPUT1", Datatype.INT32, Shape.of(1, 16))
    };

    private final BufferPool buffers;
    private final int requests;

    private AllocationPerRequest(BufferPool buffers, int requests) {
        this.buffers = buffers;
        this.requests = requests;
    }

    /** Measures. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int requests = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200_000;
        Path repository = Files.createTempDirectory("gatun-allocation");
        Path engine = BenchmarkFiles.root().resolve("examples/models/simple/1/model.onnx");
        addModel(repository, "direct", engine, CONFIG);
        addModel(
                repository,
                "batched",
                engine,
                CONFIG + "dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 1000 }");
        try (BufferPool buffers = new BufferPool(1L << 28);
                SharedRegions regions = SharedRegions.open(buffers);
                GatunServer server =
                        GatunServer.open(ServerOptions.of(buffers, regions).repository(repository))) {
            AllocationPerRequest measurement = new AllocationPerRequest(buffers, requests);
            System.out.printf(
                    Locale.ROOT, "%-10s %8s %18s %20s%n", "model", "clients", "bytes/request", "requests in a batch");
            System.out.printf(
                    Locale.ROOT, "%-10s %8d %18.0f %20s%n", "(no model)", 1, measurement.bytesOfMaking(server), "");
            measurement.measure(server, "direct", 1);
            measurement.measure(server, "direct", 8);
            measurement.measure(server, "batched", 8);
        } finally {
            for (String file : List.of("1/model.onnx", "1", "config.pbtxt", "")) {
                Files.delete(repository.resolve("direct").resolve(file));
                Files.delete(repository.resolve("batched").resolve(file));
            }
            Files.delete(repository);
        }
    }

    private static void addModel(Path repository, String name, Path engine, String config) throws IOException {
        Path folder = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.copy(engine, folder.resolve("model.onnx"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
    }

    private InferenceRequest request(ModelVersion model) {
        InferenceRequest request = new InferenceRequest(model);
        for (TensorSpec spec : INPUTS) {
            Buffer buffer = buffers.take(64);
            request.hold(buffer);
            request.addInput(new Tensor(spec, buffer.segment()));
        }
        return request;
    }

    private double bytesOfMaking(GatunServer server) throws InterruptedException {
        ModelVersion model = server.model("direct", "");
        Runnable once = () -> request(model).close();
        run(once, 1);
        return (double) run(once, 1) / requests;
    }

    private void measure(GatunServer server, String name, int clients) throws InterruptedException {
        ModelVersion model = server.model(name, "");
        Runnable once = () -> server.infer(request(model)).close();
        run(once, clients);
        ModelStatistics before = statistics(server, name);
        long bytes = run(once, clients);
        ModelStatistics after = statistics(server, name);
        System.out.printf(
                Locale.ROOT,
                "%-10s %8d %18.0f %20.1f%n",
                name,
                clients,
                (double) bytes / requests / clients,
                (double) (after.totals().inferenceCount() - before.totals().inferenceCount())
                        / (after.executionCount() - before.executionCount()));
    }

    private static ModelStatistics statistics(GatunServer server, String name) {
        return server.statistics().stream()
                .filter(model -> model.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Bytes that all threads allocate while so many clients do something so often. */
    private long run(Runnable once, int clients) throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                await(go);
                for (int left = requests; left > 0; left--) {
                    once.run();
                }
            }));
        }
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = memory.getTotalThreadAllocatedBytes();
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        return memory.getTotalThreadAllocatedBytes() - before;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }
}
