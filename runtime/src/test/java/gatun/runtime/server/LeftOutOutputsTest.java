// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Responses of models that leave some of their outputs out, and outputs of impossible shapes. */
@Timeout(60)
class LeftOutOutputsTest {
    private static final String TENSORS = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }, { name: "MORE" data_type: TYPE_STRING dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String BATCHED = TENSORS
            + "max_batch_size: 8 dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 30000000 }";

    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private static void copy(Execution execution) {
        var input = execution.input(0);
        execution
                .output(0, Datatype.FP32, input.spec().shape(), input.byteSize())
                .copyFrom(input.bytes());
    }

    private static List<String> names(InferenceResponse response) {
        try (response) {
            return response.outputs().stream()
                    .map(output -> output.tensor().spec().name())
                    .toList();
        }
    }

    @Test
    void shouldAnswerWithoutAnOutputThatIsLeftOut() {
        test.model("m", TENSORS).open(execution -> {
            copy(execution);
            execution.requests().getFirst().leaveOut("MORE");
            execution.requests().getFirst().leaveOut("UNKNOWN");
        });
        assertThat(names(test.server().infer(test.input(test.request("m"), "IN", 2))))
                .containsExactly("OUT");
    }

    @Test
    void shouldStillFailARequestWhoseOutputIsForgotten() {
        test.model("m", TENSORS).open(LeftOutOutputsTest::copy);
        InferenceRequest request = test.input(test.request("m"), "IN", 2);
        assertThatThrownBy(() -> test.server().infer(request))
                .hasMessage("the backend gave no output 'MORE' of model 'm'");
    }

    @Test
    void shouldLeaveOutWhatAMemberOfAnEnsembleLeavesOut() {
        test.model("m", TENSORS).model("e", """
                platform: "ensemble"
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }, { name: "MORE" data_type: TYPE_STRING dims: [ -1 ] } ]
                ensemble_scheduling { step [ {
                    model_name: "m" model_version: -1
                    input_map { key: "IN" value: "IN" }
                    output_map { key: "OUT" value: "OUT" }
                    output_map { key: "MORE" value: "MORE" } } ] }
                """).open(execution -> {
            copy(execution);
            execution.requests().getFirst().leaveOut("MORE");
        });
        assertThat(names(test.server().infer(test.input(test.request("e"), "IN", 2))))
                .containsExactly("OUT");
    }

    @Test
    void shouldLeaveOutputsOfABatchOutForSomeOfItsRequests() throws Exception {
        test.model("m", BATCHED).open(execution -> {
            copy(execution);
            execution.requests().forEach(request -> request.leaveOut("MORE"));
            execution.requests().getFirst().leaveOut("OUT");
        });
        List<List<String>> answers = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<InferenceResponse>> responses = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                InferenceRequest request = test.input(test.request("m"), "IN", 1, 2);
                responses.add(clients.submit(() -> test.server().infer(request)));
            }
            for (Future<InferenceResponse> response : responses) {
                answers.add(names(response.get(30, TimeUnit.SECONDS)));
            }
        }
        assertThat(answers).containsExactlyInAnyOrder(List.of(), List.of("OUT"));
    }

    @Test
    void shouldFailOnlyTheRequestWhoseStringsHaveANegativeDimension() {
        boolean[] broken = {true};
        test.model("m", TENSORS).open(execution -> {
            copy(execution);
            Shape shape = broken[0] ? Shape.of(-1) : Shape.of(1);
            Hold none = () -> {};
            execution.lendOutput(1, Datatype.BYTES, shape, MemorySegment.ofArray(new byte[4]), none);
        });
        InferenceRequest request = test.input(test.request("m"), "IN", 2);
        assertThatThrownBy(() -> test.server().infer(request))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessageContaining("output 'MORE'");
        broken[0] = false;
        assertThat(names(test.server().infer(test.input(test.request("m"), "IN", 2))))
                .containsExactly("OUT", "MORE");
    }
}
