// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.testing.Await;
import gatun.testing.OnnxFile;
import gatun.testing.OnnxFile.Value;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Requests of different lengths in one run of a real engine, whose model puts the lengths before the elements. */
@Timeout(120)
class RaggedOnnxTest {
    private static final String CONFIG = """
            backend: "onnxruntime"
            max_batch_size: 8
            dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 60000000 }
            input [ { name: "X" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true } ]
            batch_input [ { kind: BATCH_ELEMENT_COUNT target_name: "LENGTHS" data_type: TYPE_FP32 source_input: "X" } ]
            output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] } ]
            batch_output [ { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "Y" source_input: "X" } ]
            instance_group [ { count: 1 } ]
            """;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(
            1 << 20, () -> assertThat(LiveHandles.values()).as("live values").isZero());

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    @TempDir
    private Path repository;

    private void open(Value input) throws IOException {
        OnnxFile.write(
                repository.resolve("m/1"),
                "Concat",
                List.of(OnnxValues.of("LENGTHS", Datatype.FP32, "requests"), input),
                List.of(OnnxValues.of("Y", Datatype.FP32, "")),
                "axis",
                0);
        Files.writeString(repository.resolve("m/config.pbtxt"), CONFIG);
        server = runtime.serve(repository);
    }

    private InferenceRequest request(float... values) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Buffer buffer = pool.take(4L * values.length);
        request.hold(buffer);
        for (int i = 0; i < values.length; i++) {
            buffer.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, values[i]);
        }
        request.addInput(new Tensor(new TensorSpec("X", Datatype.FP32, Shape.of(1, values.length)), buffer.segment()));
        return request;
    }

    private static float[] answer(Future<InferenceResponse> future) throws Exception {
        try (InferenceResponse response = future.get(30, TimeUnit.SECONDS)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    @Test
    void shouldRunRequestsOfDifferentLengthsTogether() throws Exception {
        open(OnnxValues.of("X", Datatype.FP32, "elements"));
        assertThat(server.index()).extracting(ModelStatus::reason).containsExactly("");
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<InferenceResponse> first = clients.submit(() -> server.infer(request(10, 11, 12)));
            Await.until(
                    "the request to wait",
                    () -> server.statistics().getFirst().totals().pendingRequestCount() >= 1);
            Future<InferenceResponse> second = clients.submit(() -> server.infer(request(20, 21, 22, 23)));
            // The model gave 3, 4, 10, 11, 12, 20, 21, 22, 23.
            assertThat(answer(first)).containsExactly(3, 4, 10);
            assertThat(answer(second)).containsExactly(11, 12, 20, 21);
        }
        assertThat(server.statistics().getFirst().executionCount()).isEqualTo(1);
    }

    @Test
    void shouldRefuseAModelThatDoesNotTakeOneRowOfElements() throws Exception {
        open(OnnxValues.of("X", Datatype.FP32, "5"));
        assertThat(server.index()).extracting(ModelStatus::state).containsExactly(ModelState.UNAVAILABLE);
        assertThat(server.index().getFirst().reason())
                .contains("configuration expects model provides input with shape [-1] for ragged input 'X', model"
                        + " provides [5]");
    }
}
