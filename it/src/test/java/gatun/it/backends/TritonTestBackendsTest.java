// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The backends as the runtime drives them. */
@Timeout(60)
class TritonTestBackendsTest {
    private static final String SEQUENCES = """
            max_batch_size: 2
            input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 2 ] } ]
            output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 2 ] } ]
            """;

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    private void open(String backend, String config) throws IOException {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), "backend: \"" + backend + "\"\n" + config);
        server = runtime.serve(repository);
    }

    private InferenceRequest request(String input, Shape shape, int... values) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Buffer buffer = pool.take((long) values.length * Integer.BYTES);
        request.hold(buffer);
        for (int i = 0; i < values.length; i++) {
            buffer.segment().setAtIndex(ElementLayouts.INT32, i, values[i]);
        }
        request.addInput(new Tensor(new TensorSpec(input, Datatype.INT32, shape), buffer.segment()));
        return request;
    }

    private InferenceRequest step(boolean start, boolean end, int... values) {
        InferenceRequest request = request("INPUT", Shape.of(1, values.length), values);
        request.correlationId(7);
        request.sequenceStart(start);
        request.sequenceEnd(end);
        return request;
    }

    /** The first element of each response. */
    private List<Integer> answers(InferenceRequest request) {
        List<Integer> answers = new ArrayList<>();
        server.infer(request, (response, last) -> {
            try (response) {
                answers.add(response.outputs().getFirst().tensor().bytes().get(ElementLayouts.INT32, 0));
            }
        });
        return answers;
    }

    @Test
    void shouldAddUpASequence() throws IOException {
        open("sequence", SEQUENCES + "sequence_batching { }");
        assertThat(answers(step(true, false, 1, 2))).containsExactly(3);
        assertThat(answers(step(false, true, 3, 4))).containsExactly(10);
        assertThat(answers(step(true, true, 5, 6))).containsExactly(11);
    }

    @Test
    void shouldAddTheSequencesNumberInTheEnd() throws IOException {
        open("dyna_sequence", SEQUENCES + "sequence_batching { oldest { max_candidate_sequences: 2 } }");
        assertThat(answers(step(true, false, 1, 2))).containsExactly(3);
        assertThat(answers(step(false, true, 3, 4))).containsExactly(17);
    }

    @Test
    void shouldAnswerAsOftenAsTheValueSays() throws IOException {
        open("square", """
                model_transaction_policy { decoupled: true }
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                """);
        assertThat(answers(request("IN", Shape.of(1), 3))).containsExactly(3, 3, 3);
    }

    @Test
    void shouldCountDown() throws IOException {
        open(
                "iterative_sequence",
                SEQUENCES.replace("dims: [ 2 ]", "dims: [ 1 ]")
                        + "model_transaction_policy { decoupled: true } sequence_batching { iterative_sequence: true }");
        assertThat(answers(request("INPUT", Shape.of(1, 1), 3))).containsExactly(2, 1, 0);
    }
}
