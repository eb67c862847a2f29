// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The backend as the sequence batcher drives it. */
@Timeout(60)
class SequencesTest {
    private static final String MODEL = """
            backend: "sequence_accumulator"
            max_batch_size: 4
            input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            instance_group [ { count: 2 } ]
            sequence_batching {
              STRATEGY
              control_input [
                { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
                { name: "END" control [ { kind: CONTROL_SEQUENCE_END bool_false_true: [ false, true ] } ] },
                { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY fp32_false_true: [ 0, 1 ] } ] },
                { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] }
              ]
            }
            """;

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    @AfterEach
    void endClients() {
        clients.close();
    }

    private int step(long sequence, int value, boolean start, boolean end) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Buffer buffer = pool.take(Integer.BYTES);
        request.hold(buffer);
        buffer.segment().set(ElementLayouts.INT32, 0, value);
        request.addInput(new Tensor(new TensorSpec("INPUT", Datatype.INT32, Shape.of(1, 1)), buffer.segment()));
        request.correlationId(sequence);
        request.sequenceStart(start);
        request.sequenceEnd(end);
        try (InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().get(ElementLayouts.INT32, 0);
        }
    }

    /** The sums of 1, 2, ... 20, each a step of one sequence. */
    private List<Integer> sums(long sequence) {
        List<Integer> sums = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            sums.add(step(sequence, i, i == 1, i == 20));
        }
        return sums;
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct { }", "oldest { max_candidate_sequences: 3 }"})
    void shouldAddUpEachOfManySequencesThatOverlap(String strategy) throws Exception {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), MODEL.replace("STRATEGY", strategy));
        server = runtime.serve(repository);
        List<Future<List<Integer>>> responses = new ArrayList<>();
        for (int i = 1; i <= 12; i++) {
            long sequence = i;
            responses.add(clients.submit(() -> sums(sequence)));
        }
        List<Integer> expected = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            expected.add(i * (i + 1) / 2);
        }
        for (Future<List<Integer>> answer : responses) {
            assertThat(answer.get(30, TimeUnit.SECONDS)).isEqualTo(expected);
        }
        assertThatThrownBy(() -> step(1, 1, false, false)).hasMessageContaining("must specify the START flag");
    }
}
