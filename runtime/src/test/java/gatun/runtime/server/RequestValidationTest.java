// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.RequestedOutput;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RequestValidationTest {
    private static final String P = "[request id: <id_unknown>] ";
    private static final String NOTE =
            " NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended"
                    + " to each"
                    + " input shape. If you want to specify the full shape including the batch dim in your input"
                    + " dims config,"
                    + " try setting max_batch_size to zero. See the model configuration docs for more info on"
                    + " max_batch_size.";

    @TempDir
    Path repository;

    private TestServer test;

    @BeforeEach
    void open() {
        test = new TestServer(repository)
                .model("plain", """
                        backend: "scripted"
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ -1, 3 ] }, { name: "B" data_type: TYPE_FP32 dims: [ 2 ] } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ -1, 3 ] }, { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] } ]
                        """)
                .model("batched", """
                        backend: "scripted"
                        max_batch_size: 4
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "B" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        """)
                .model("optional", """
                        backend: "scripted"
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ 1 ] optional: true },
                                { name: "B" data_type: TYPE_FP32 dims: [ 1 ] } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
                        """)
                .model("text", """
                        backend: "scripted"
                        input [ { name: "A" data_type: TYPE_STRING dims: [ 2 ] } ]
                        output [ { name: "X" data_type: TYPE_STRING dims: [ 2 ] } ]
                        """)
                .model("one", """
                        backend: "scripted"
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ 1 ] } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
                        """)
                .model("scalars", """
                        backend: "scripted"
                        max_batch_size: 4
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ 1 ] reshape { } } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] reshape { } } ]
                        """)
                .model("reshaped", """
                        backend: "scripted"
                        max_batch_size: 4
                        input [ { name: "A" data_type: TYPE_FP32 dims: [ 2, -1 ] reshape { shape: [ 1, 2, -1 ] } } ]
                        output [ { name: "X" data_type: TYPE_FP32 dims: [ 2, 1, -1 ] reshape { shape: [ 1, 2, -1 ] } } ]
                        """)
                .open(ScriptedBackend::copy);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).isZero();
    }

    @Test
    void shouldRefuseAWrongNumberOfInputs() {
        assertRefused(
                "plain",
                request -> test.input(request, "A", 1, 3),
                P
                        + "expected 2 inputs but got 1 inputs for model 'plain'. Got input(s) ['A'], but missing"
                        + " required input(s)"
                        + " ['B']. Please provide all required input(s).");
        assertRefused(
                "plain",
                request -> {},
                P
                        + "expected 2 inputs but got 0 inputs for model 'plain'. Got input(s) [], but missing"
                        + " required input(s)"
                        + " ['A','B']. Please provide all required input(s).");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 3);
                    test.input(request, "B", 2);
                    test.input(request, "C", 2);
                },
                P
                        + "expected 2 inputs but got 3 inputs for model 'plain'. Got input(s) ['A','B','C'], but"
                        + " missing required"
                        + " input(s) ]. Please provide all required input(s).");
    }

    @Test
    void shouldRefuseAWrongNumberOfInputsWhereSomeAreOptional() {
        assertRefused(
                "optional",
                request -> {},
                P
                        + "expected number of inputs between 1 and 2 but got 0 inputs for model 'optional'. Got"
                        + " input(s) [], but"
                        + " missing required input(s) ['B']. Please provide all required input(s).");
        assertRefused(
                "optional",
                request -> test.input(request, "A", 1),
                P
                        + "expected number of inputs between 1 and 2 but got 1 inputs for model 'optional'. Got"
                        + " input(s) ['A'], but"
                        + " missing required input(s) ['B']. Please provide all required input(s).");
    }

    @Test
    void shouldRunWithoutAnOptionalInput() {
        InferenceRequest request = test.input(test.request("optional"), "B", 1);
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs()).hasSize(1);
        }
    }

    @Test
    void shouldRefuseUnknownNames() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 3);
                    test.input(request, "C", 2);
                },
                "unexpected inference input 'C' for model 'plain'; it has 'A' FP32 [-1,3], 'B' FP32 [2]");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 3);
                    request.addOutput(RequestedOutput.of("Z"));
                },
                "unexpected inference output 'Z' for model 'plain'; it has 'X', 'Y'");
    }

    @Test
    void shouldFindNamesGivenTwiceBeforeAnythingElse() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 3);
                    test.input(request, "A", 1, 3);
                },
                P + "input 'A' already exists in request");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 3);
                    test.input(request, "B", 2);
                    test.input(request, "B", 2);
                },
                P + "input 'B' already exists in request");
        assertRefused(
                "plain",
                request -> {
                    request.addOutput(RequestedOutput.of("X"));
                    request.addOutput(RequestedOutput.of("X"));
                },
                P + "output 'X' already exists in request");
    }

    @Test
    void shouldRefuseBatchesThatDoNotFit() {
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A");
                    test.input(request, "B", 1, 1);
                },
                P + "input 'A' has no shape but model requires batch dimension for 'batched'");
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A", 2, 3);
                    test.input(request, "B", 1, 1);
                },
                P + "input 'B' batch size does not match other inputs for 'batched'");
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A", 5, 3);
                    test.input(request, "B", 5, 1);
                },
                P
                        + "inference request batch-size must be <= 4 for 'batched', got 5; send several requests, or"
                        + " raise max_batch_size in the model's configuration");
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A", 0, 3);
                    test.input(request, "B", 0, 1);
                },
                P + "inference request batch-size must be >= 1 for 'batched'");
    }

    @Test
    void shouldRefuseAnotherDatatype() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.INT32, 12, 1, 3);
                    test.input(request, "B", 2);
                },
                P + "inference input 'A' data-type is 'INT32', but model 'plain' expects 'FP32'");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.INVALID, 12, 1, 3);
                    test.input(request, "B", 2);
                },
                P + "inference input 'A' data-type is '<invalid>', but model 'plain' expects 'FP32'");
    }

    @Test
    void shouldRefuseAnotherShape() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 1, 4);
                    test.input(request, "B", 2);
                },
                P + "unexpected shape for input 'A' for model 'plain'. Expected [-1,3], got [1,4]. ");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", 3);
                    test.input(request, "B", 2);
                },
                P + "unexpected shape for input 'A' for model 'plain'. Expected [-1,3], got [3]. ");
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A", 1, 4);
                    test.input(request, "B", 1, 1);
                },
                P + "unexpected shape for input 'A' for model 'batched'. Expected [-1,3], got [1,4]." + NOTE);
    }

    @Test
    void shouldRefuseDimensionsThatAreNoSizes() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.FP32, 12, -1, 3);
                    test.input(request, "B", 2);
                },
                P + "All input dimensions should be specified for input 'A' for model 'plain', got [-1,3]");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.FP32, 12, Long.MIN_VALUE, 3);
                    test.input(request, "B", 2);
                },
                P + "All input dimensions should be specified for input 'A' for model 'plain', got"
                        + " [-9223372036854775808,3]");
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.FP32, 12, Long.MAX_VALUE, 3);
                    test.input(request, "B", 2);
                },
                P
                        + "input 'A' for model 'plain' has shape [9223372036854775807,3], whose size exceeds"
                        + " 9223372036854775807"
                        + " bytes");
    }

    @Test
    void shouldRefuseAnotherSize() {
        assertRefused(
                "plain",
                request -> {
                    test.input(request, "A", Datatype.FP32, 11, 1, 3);
                    test.input(request, "B", 2);
                },
                P + "input byte size mismatch for input 'A' for model 'plain'. Expected 12, got 11");
    }

    @Test
    void shouldAcceptATensorWithoutElements() {
        InferenceRequest request = test.input(test.request("plain"), "A", 0, 3);
        test.input(request, "B", 2);
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().byteSize())
                    .isZero();
        }
    }

    @Test
    void shouldRefuseBrokenStrings() {
        assertRefused(
                "text",
                request -> text(request, 1, 0, 0, 0, 'a', 1, 0),
                P
                        + "incomplete string length indicator for inference input 'A' for model 'text', expecting 4"
                        + " bytes but only"
                        + " 2 bytes available. Please make sure the string length indicator is in one buffer.");
        assertRefused(
                "text",
                request -> text(request, 9, 0, 0, 0, 'a'),
                P
                        + "incomplete string data for inference input 'A' for model 'text', expecting string of"
                        + " length 9 but only"
                        + " 1 bytes available. Please make sure the string is in one buffer.");
        assertRefused(
                "text",
                request -> text(request, 0, 0, 0, 0),
                P + "expected 2 string elements for inference input 'A' for model 'text', got 1");
        assertRefused(
                "text",
                request -> text(request, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                P + "unexpected number of string elements 3 for inference input 'A' for model 'text', expecting 2");
        assertRefused(
                "text",
                request -> text(request, 255, 255, 255, 255, 'a'),
                P
                        + "incomplete string data for inference input 'A' for model 'text', expecting string of"
                        + " length 4294967295"
                        + " but only 1 bytes available. Please make sure the string is in one buffer.");
    }

    @Test
    void shouldPutTheRequestsIdInFront() {
        InferenceRequest request = test.request("plain");
        request.id("seven");
        assertThatThrownBy(() -> test.server().infer(request)).hasMessageStartingWith("[request id: seven] expected 2");
    }

    @Test
    void shouldTakeInputsInAnyOrderAndAnswerInTheClients() {
        InferenceRequest request = test.input(test.request("plain"), "B", 2);
        test.input(request, "A", 1, 3);
        request.addOutput(RequestedOutput.of("X"));
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs()).singleElement().satisfies(output -> {
                assertThat(output.tensor().spec().name()).isEqualTo("X");
                assertThat(output.tensor().spec().shape()).isEqualTo(Shape.of(1, 3));
            });
        }
    }

    @Test
    void shouldShowTheBackendTheReshapeAndTheClientItsOwnShape() {
        InferenceRequest request = test.input(test.request("reshaped"), "A", 3, 2, 5);
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().spec().shape()).isEqualTo(Shape.of(3, 2, 1, 5));
        }
    }

    @Test
    void shouldTakeASingleElementWithAndWithoutADimension() {
        assertAnswered("one", Shape.of(1), 1);
        assertAnswered("one", Shape.of(1));
        assertAnswered("scalars", Shape.of(3, 1), 3, 1);
        assertAnswered("scalars", Shape.of(3, 1), 3);
        assertRefused(
                "one",
                request -> test.input(request, "A", 1, 1),
                P + "unexpected shape for input 'A' for model 'one'. Expected [1], got [1,1]. ");
        assertRefused(
                "optional",
                request -> test.input(request, "B", 2),
                P + "unexpected shape for input 'B' for model 'optional'. Expected [1], got [2]. ");
        assertRefused(
                "batched",
                request -> {
                    test.input(request, "A", 3);
                    test.input(request, "B", 3, 1);
                },
                P + "unexpected shape for input 'A' for model 'batched'. Expected [-1,3], got [3]. " + NOTE.strip());
    }

    private void assertAnswered(String model, Shape answered, long... dims) {
        InferenceRequest request = test.input(test.request(model), "A", dims);
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().spec().shape()).isEqualTo(answered);
        }
    }

    @Test
    void shouldRefuseToClassifyWhatHasNoOrder() {
        assertRefused(
                "text",
                request -> {
                    text(request, 0, 0, 0, 0, 0, 0, 0, 0);
                    request.addOutput(new RequestedOutput("X", Optional.empty(), 1));
                },
                "class result not available for output due to unsupported type 'BYTES'");
    }

    private void text(InferenceRequest request, int... bytes) {
        Buffer buffer = test.pool.take(bytes.length);
        request.hold(buffer);
        MemorySegment segment = buffer.segment();
        for (int i = 0; i < bytes.length; i++) {
            segment.set(ValueLayout.JAVA_BYTE, i, (byte) bytes[i]);
        }
        request.addInput(new Tensor(new TensorSpec("A", Datatype.BYTES, Shape.of(2)), segment));
    }

    private void assertRefused(String model, Consumer<InferenceRequest> prepare, String text) {
        InferenceRequest request = test.request(model);
        prepare.accept(request);
        assertThatThrownBy(() -> test.server().infer(request).close())
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessage(text);
        assertThat(test.pool.usedBytes()).as("buffers of the refused request").isZero();
    }
}
