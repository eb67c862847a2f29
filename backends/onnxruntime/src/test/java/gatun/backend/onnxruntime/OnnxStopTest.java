// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.testing.Await;
import gatun.testing.OnnxFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run that takes long is told to stop when its client gives up. */
@Timeout(120)
class OnnxStopTest {
    private static final int LARGE = 512;

    private final BufferPool pool = new BufferPool(64 << 20);

    private InferenceRequest request(GatunServer server, int size) {
        InferenceRequest request = new InferenceRequest(server.model("slow", ""));
        Buffer buffer = pool.take((long) size * size * Float.BYTES);
        request.hold(buffer);
        request.addInput(new Tensor(
                new TensorSpec("X", Datatype.FP32, Shape.of(size, size)),
                buffer.segment().fill((byte) 0)));
        return request;
    }

    private static Future<Shape> infer(ExecutorService clients, GatunServer server, InferenceRequest request) {
        return clients.submit(() -> {
            try (request;
                    InferenceResponse response = server.infer(request)) {
                return response.outputs().getFirst().tensor().spec().shape();
            }
        });
    }

    @Test
    void shouldStopARunThatNobodyWantsAndThenRunOthers(@TempDir Path folder) throws Exception {
        OnnxFile.Value input = OnnxValues.of("X", Datatype.FP32, "n", "n");
        OnnxFile.Value output = OnnxValues.of("Y", Datatype.FP32, "n", "n");
        // Minutes of work, of which the test does not wait for more than the part until the stop.
        OnnxFile.writeProducts(folder.resolve("slow/1"), input, output, 20_000);
        Files.writeString(folder.resolve("slow/config.pbtxt"), """
                backend: "onnxruntime"
                input [ { name: "X" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                instance_group [ { count: 1 } ]
                """);
        try (SharedRegions regions = SharedRegions.open(pool);
                GatunServer server =
                        GatunServer.open(ServerOptions.of(pool, regions).repository(folder));
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            InferenceRequest unwanted = request(server, LARGE);
            Future<Shape> running = infer(clients, server, unwanted);
            Future<Shape> waiting = infer(clients, server, request(server, 1));
            Await.until(
                    "the first to run",
                    () -> server.statistics().getFirst().totals().pendingRequestCount() == 1);

            unwanted.cancellation().cancel();

            assertThatThrownBy(() -> running.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
            assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(Shape.of(1, 1));
            assertThat(server.statistics().getFirst().totals().failures().canceled())
                    .isEqualTo(1);
        }
        assertThat(pool.usedBytes()).isZero();
        pool.close();
    }
}
