// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The backend as the runtime finds and drives it. */
@Timeout(60)
class IterativeSequenceBackendTest {
    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    private void open(String sequences) throws IOException {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), """
                backend: "iterative_sequence"
                input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                """ + sequences);
        server = runtime.serve(repository);
    }

    /** The answer to the first step of a sequence, always of the same one. */
    private int countDown(int from) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Buffer buffer = pool.take(Integer.BYTES);
        request.hold(buffer);
        buffer.segment().set(ElementLayouts.INT32, 0, from);
        request.addInput(new Tensor(new TensorSpec("INPUT", Datatype.INT32, Shape.of(1)), buffer.segment()));
        request.correlationId(7);
        request.sequenceStart(true);
        try (request;
                InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().get(ElementLayouts.INT32, 0);
        }
    }

    @Test
    void shouldRunARequestAgainUntilNothingIsLeft() throws IOException {
        open("sequence_batching { iterative_sequence: true }");
        assertThat(countDown(2)).isZero();
        assertThat(countDown(1)).as("the next sequence of the same number").isZero();
    }

    @Test
    void shouldKeepNothingOfARequestThatCannotRunAgain() throws IOException {
        open("sequence_batching { }");
        assertThatThrownBy(() -> countDown(5)).isInstanceOfSatisfying(GatunException.class, e -> assertThat(e.code())
                .isEqualTo(ErrorCode.INVALID_ARGUMENT));
        assertThat(countDown(1)).isZero();
    }
}
