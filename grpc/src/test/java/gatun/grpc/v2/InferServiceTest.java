package gatun.grpc.v2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.grpc.EdgeServer;
import gatun.grpc.GrpcSettings;
import gatun.memory.Datatype;
import gatun.protocol.inference.GRPCInferenceServiceGrpc;
import gatun.protocol.inference.InferParameter;
import gatun.protocol.inference.InferTensorContents;
import gatun.protocol.inference.ModelInferRequest;
import gatun.protocol.inference.ModelInferResponse;
import gatun.protocol.inference.SystemSharedMemoryRegisterRequest;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class InferServiceTest {
    private final FakeServer server = new FakeServer();
    private final EdgeServer edge =
            new EdgeServer(server, GrpcSettings.standard().withClientMemoryAllowed(true));
    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub =
            GRPCInferenceServiceGrpc.newBlockingStub(edge.channel());

    @AfterEach
    void nothingIsLeft() {
        edge.close();
        server.awaitNothingHeld();
        server.close();
    }

    private static ModelInferRequest.Builder request() {
        return ModelInferRequest.newBuilder().setModelName(FakeServer.MODEL);
    }

    private static ModelInferRequest.InferInputTensor.Builder input(String name, String datatype, long... shape) {
        ModelInferRequest.InferInputTensor.Builder input =
                ModelInferRequest.InferInputTensor.newBuilder().setName(name).setDatatype(datatype);
        for (long dim : shape) {
            input.addShape(dim);
        }
        return input;
    }

    private static InferParameter text(String value) {
        return InferParameter.newBuilder().setStringParam(value).build();
    }

    private static InferParameter number(long value) {
        return InferParameter.newBuilder().setInt64Param(value).build();
    }

    private static ByteString random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    private Status failure(ModelInferRequest.Builder request) {
        StatusRuntimeException failure =
                catchThrowableOfType(StatusRuntimeException.class, () -> stub.modelInfer(request.build()));
        assertThat(failure).as("the call fails").isNotNull();
        return failure.getStatus();
    }

    private void assertInvalid(String text, Consumer<ModelInferRequest.Builder> change) {
        ModelInferRequest.Builder request = request();
        change.accept(request);
        Status status = failure(request);
        assertThat(status.getDescription()).isEqualTo(text);
        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void shouldAnswerRawTensorsOfAnySizeInTheirOrder() {
        for (int size : new int[] {0, 4, 64, 5000, 70_000, 3 << 20}) {
            ModelInferRequest request = request()
                    .setId("id " + size)
                    .setModelVersion("3")
                    .addInputs(input("A", "INT32", size / 4))
                    .addInputs(input("B", "UINT8", 3))
                    .addInputs(input("C", "FP64", size / 8))
                    .addRawInputContents(random(size))
                    .addRawInputContents(random(3))
                    .addRawInputContents(random(size / 8 * 8))
                    .build();

            ModelInferResponse response = stub.modelInfer(request);

            assertThat(response.getModelName()).isEqualTo(FakeServer.MODEL);
            assertThat(response.getModelVersion()).isEqualTo("3");
            assertThat(response.getId()).isEqualTo("id " + size);
            assertThat(response.getOutputsList()).hasSize(3);
            assertThat(response.getOutputs(2).getName()).isEqualTo("C");
            assertThat(response.getOutputs(2).getDatatype()).isEqualTo("FP64");
            assertThat(response.getOutputs(2).getShapeList()).containsExactly(size / 8L);
            assertThat(response.getRawOutputContentsList()).isEqualTo(request.getRawInputContentsList());
        }
        assertThat(server.misaligned()).isZero();
    }

    @Test
    void shouldAlignTensorsWhereverTheyStandInTheMessage() {
        Random random = new Random(7);
        String[] datatypes = {"UINT8", "INT16", "FP32", "INT64"};
        int[] sizes = {1, 2, 4, 8};
        for (int i = 0; i < 300; i++) {
            ModelInferRequest.Builder request = request().setId("x".repeat(random.nextInt(70)));
            for (int k = random.nextInt(1, 6); k > 0; k--) {
                int kind = random.nextInt(4);
                int count = random.nextInt(40);
                request.addInputs(input("T" + k, datatypes[kind], count));
                request.addRawInputContents(random(count * sizes[kind]));
            }

            assertThat(stub.modelInfer(request.build()).getRawOutputContentsList())
                    .isEqualTo(request.getRawInputContentsList());
        }
        assertThat(server.misaligned()).isZero();
    }

    @Test
    void shouldUnderstandFieldsInAnyOrder() {
        ModelInferRequest head = request().addInputs(input("A", "INT64", 1)).build();
        ModelInferRequest data =
                ModelInferRequest.newBuilder().addRawInputContents(random(8)).build();
        // Two encoded messages one after the other are one message.
        byte[] bytes = data.toByteString().concat(head.toByteString()).toByteArray();

        ModelInferResponse response =
                ClientCalls.blockingUnaryCall(edge.channel(), rawRequests(), CallOptions.DEFAULT, bytes);

        assertThat(response.getRawOutputContents(0)).isEqualTo(random(8));
    }

    private static MethodDescriptor<byte[], ModelInferResponse> rawRequests() {
        return GRPCInferenceServiceGrpc.getModelInferMethod().toBuilder(
                        new MethodDescriptor.Marshaller<byte[]>() {
                            @Override
                            public java.io.InputStream stream(byte[] value) {
                                return new java.io.ByteArrayInputStream(value);
                            }

                            @Override
                            public byte[] parse(java.io.InputStream stream) {
                                return new byte[0];
                            }
                        },
                        GRPCInferenceServiceGrpc.getModelInferMethod().getResponseMarshaller())
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0a", "0a0541", "2a01ff"})
    void shouldRefuseBytesThatAreNoMessage(String hex) {
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(
                        edge.channel(),
                        rawRequests(),
                        CallOptions.DEFAULT,
                        java.util.HexFormat.of().parseHex(hex)));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(failure.getStatus().getDescription()).startsWith("the request message is not valid");
    }

    @ParameterizedTest
    @EnumSource(
            value = Datatype.class,
            names = {"FP16", "BF16", "INVALID"},
            mode = EnumSource.Mode.EXCLUDE)
    void shouldWriteTypedContentsAsTheDatatypeAsks(Datatype datatype) {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        ByteBuffer expected = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        switch (datatype) {
            case BOOL -> {
                contents.addBoolContents(true).addBoolContents(false);
                expected.put((byte) 1).put((byte) 0);
            }
            case UINT8 -> {
                contents.addUintContents(255).addUintContents(256 + 7);
                expected.put((byte) 255).put((byte) 7);
            }
            case UINT16 -> {
                contents.addUintContents(65_535).addUintContents(1);
                expected.putShort((short) 65_535).putShort((short) 1);
            }
            case UINT32 -> {
                contents.addUintContents(-1).addUintContents(5);
                expected.putInt(-1).putInt(5);
            }
            case UINT64 -> {
                contents.addUint64Contents(-1).addUint64Contents(1L << 40);
                expected.putLong(-1).putLong(1L << 40);
            }
            case INT8 -> {
                contents.addIntContents(-1).addIntContents(127);
                expected.put((byte) -1).put((byte) 127);
            }
            case INT16 -> {
                contents.addIntContents(-2).addIntContents(300);
                expected.putShort((short) -2).putShort((short) 300);
            }
            case INT32 -> {
                contents.addIntContents(Integer.MIN_VALUE).addIntContents(3);
                expected.putInt(Integer.MIN_VALUE).putInt(3);
            }
            case INT64 -> {
                contents.addInt64Contents(Long.MIN_VALUE).addInt64Contents(-1);
                expected.putLong(Long.MIN_VALUE).putLong(-1);
            }
            case FP32 -> {
                contents.addFp32Contents(1.5f).addFp32Contents(Float.NaN);
                expected.putFloat(1.5f).putFloat(Float.NaN);
            }
            case FP64 -> {
                contents.addFp64Contents(-0.0).addFp64Contents(1e300);
                expected.putDouble(-0.0).putDouble(1e300);
            }
            case BYTES -> {
                contents.addBytesContents(ByteString.copyFromUtf8("añb")).addBytesContents(ByteString.EMPTY);
                expected.putInt(4)
                        .put(ByteString.copyFromUtf8("añb").toByteArray())
                        .putInt(0);
            }
            case FP16, BF16, INVALID -> throw new AssertionError("has no typed contents");
        }

        ModelInferResponse response = stub.modelInfer(request()
                .addInputs(input("A", datatype.wireName(), 2).setContents(contents))
                .build());

        assertThat(response.getRawOutputContents(0))
                .isEqualTo(ByteString.copyFrom(expected.array(), 0, expected.position()));
    }

    @Test
    void shouldReadAMillionTypedElements() {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        for (int i = 0; i < 1_000_000; i++) {
            contents.addIntContents(i * 31);
        }

        ByteBuffer answer = stub.modelInfer(request()
                        .addInputs(input("A", "INT32", 1_000_000).setContents(contents))
                        .build())
                .getRawOutputContents(0)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);

        assertThat(answer.remaining()).isEqualTo(4_000_000);
        assertThat(answer.getInt(4 * 999_999)).isEqualTo(999_999 * 31);
        assertThat(answer.getInt(4 * 123_456)).isEqualTo(123_456 * 31);
    }

    @Test
    void shouldReadTypedElementsThatAreNotPacked() {
        // inputs { name: "A" datatype: "INT32" shape: 2 contents { int_contents: 5 int_contents: 6 } }
        byte[] bytes = java.util.HexFormat.of()
                .parseHex("0a046563686f" + "2a12" + "0a0141" + "1205494e543332" + "1802" + "2a04" + "10051006");

        ModelInferResponse response =
                ClientCalls.blockingUnaryCall(edge.channel(), rawRequests(), CallOptions.DEFAULT, bytes);

        assertThat(response.getRawOutputContents(0).toByteArray()).containsExactly(5, 0, 0, 0, 6, 0, 0, 0);
    }

    @Test
    void shouldRefuseWhatIsWrongWithTensorData() {
        assertInvalid(
                "unable to find data for input tensor 'A' for model 'echo' in request.",
                r -> r.addInputs(input("A", "INT32", 1)));
        assertInvalid(
                "contents field must not be specified when using raw_input_contents for 'A' for model 'echo'",
                r -> r.addInputs(input("A", "INT32", 1)
                                .setContents(InferTensorContents.newBuilder().addIntContents(1)))
                        .addRawInputContents(random(4)));
        assertInvalid(
                "unexpected explicit tensor data for input tensor 'A' for model 'echo' of type 'INT64', expected datatype"
                        + " 'INT32'",
                r -> r.addInputs(input("A", "INT32", 1)
                        .setContents(InferTensorContents.newBuilder().addInt64Contents(1))));
        assertInvalid(
                "unexpected explicit tensor data for input tensor 'A' for model 'echo' of type 'FP32', expected datatype"
                        + " 'FP16'",
                r -> r.addInputs(input("A", "FP16", 1)
                        .setContents(InferTensorContents.newBuilder().addFp32Contents(1))));
    }

    @Test
    void shouldRefuseWhatIsWrongWithRegions() {
        String offsetAlone =
                "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter for tensor 'A'";
        assertInvalid(
                "invalid value type for 'shared_memory_region' parameter for tensor 'A', expected string_param.",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_region", number(1))));
        assertInvalid(
                "invalid value type for 'shared_memory_offset' parameter for tensor 'A', expected int64_param.",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_offset", text("1"))));
        assertInvalid(
                offsetAlone, r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_offset", number(1))));
        assertInvalid(
                "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter for tensor 'A'",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_region", text("r"))));
        assertInvalid(
                "unexpected 'content' provided when using shared memory for input tensor 'A' for model 'echo'",
                r -> r.addInputs(input("A", "INT32", 1)
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_byte_size", number(4))
                        .setContents(InferTensorContents.newBuilder().addIntContents(1))));
        assertInvalid(
                "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter for tensor 'O'",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("shared_memory_offset", number(1))));
        assertInvalid(
                "invalid value type for 'classification' parameter, expected int64_param",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("classification", text("1"))));
        assertInvalid(
                "invalid value for 'classification' parameter, expected >= 0",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("classification", number(0))));
        assertInvalid(
                "output can't set both 'shared_memory_region' and 'classification'",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_byte_size", number(4))
                        .putParameters("classification", number(1))));
        assertThat(failure(request()
                                .addInputs(input("A", "INT32", 1)
                                        .putParameters("shared_memory_region", text("r"))
                                        .putParameters("shared_memory_byte_size", number(4))))
                        .getCode())
                .isEqualTo(Status.Code.NOT_FOUND);
    }

    @Test
    void shouldLeaveTensorsInSharedMemoryWhereTheyAre() {
        stub.systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                .setName("r")
                .setKey("/k")
                .setByteSize(128)
                .build());
        server.regions().memory("r").set(ValueLayout.JAVA_LONG, 8, 42);

        ModelInferResponse response = stub.modelInfer(request()
                .addInputs(input("A", "INT64", 1)
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_offset", number(8))
                        .putParameters("shared_memory_byte_size", number(8)))
                .addInputs(input("B", "UINT8", 2))
                .addRawInputContents(random(2))
                .addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("A")
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_offset", number(64))
                        .putParameters("shared_memory_byte_size", number(8)))
                .addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("B"))
                .build());

        assertThat(server.regions().memory("r").get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
        assertThat(response.getRawOutputContentsList()).containsExactly(ByteString.EMPTY, random(2));
        assertThat(response.getOutputs(0).getParametersMap()).isEmpty();
    }

    @Test
    void shouldGiveParametersTheirMeaning() {
        ModelInferResponse response = stub.modelInfer(request()
                .putParameters(
                        "priority",
                        InferParameter.newBuilder().setUint64Param(2).build())
                .putParameters("timeout", number(5000))
                .putParameters("sequence_id", text("s"))
                .putParameters(
                        "sequence_start",
                        InferParameter.newBuilder().setBoolParam(true).build())
                .putParameters("mine", text("value"))
                .putParameters(
                        "ratio", InferParameter.newBuilder().setDoubleParam(0.5).build())
                .addInputs(input("A", "UINT8", 1))
                .addRawInputContents(random(1))
                .build());

        assertThat(server.lastPriority).isEqualTo(2);
        assertThat(server.lastTimeoutMicros).isEqualTo(5000);
        assertThat(server.lastParameters).containsOnlyKeys("mine", "ratio");
        assertThat(response.getParametersMap())
                .containsEntry("mine", text("value"))
                .containsEntry(
                        "ratio", InferParameter.newBuilder().setDoubleParam(0.5).build());
    }

    @Test
    void shouldRefuseWhatIsWrongWithParameters() {
        assertInvalid(
                "invalid value type for 'sequence_id' parameter, expected int64_param or string_param.",
                r -> r.putParameters(
                        "sequence_id",
                        InferParameter.newBuilder().setBoolParam(true).build()));
        assertInvalid(
                "invalid value type for 'sequence_start' parameter, expected bool_param.",
                r -> r.putParameters("sequence_start", number(1)));
        assertInvalid(
                "invalid value for 'priority', expected value >= 0.", r -> r.putParameters("priority", number(-1)));
        assertInvalid(
                "invalid value type for 'priority' parameter, expected int64_param or uint64_param.",
                r -> r.putParameters("priority", text("1")));
        assertInvalid(
                "invalid value type for 'timeout' parameter, expected int64_param.",
                r -> r.putParameters("timeout", text("1")));
        assertInvalid(
                "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with"
                        + " 'triton_' are allowed: triton_enable_empty_final_response",
                r -> r.putParameters("triton_x", number(1)));
        assertInvalid(
                "invalid value type for 'mine' parameter, expected int64_param, bool_param, or string_param.",
                r -> r.putParameters(
                        "mine", InferParameter.newBuilder().setUint64Param(1).build()));
        assertInvalid(
                "invalid value type for 'mine' parameter, expected int64_param, bool_param, or string_param.",
                r -> r.putParameters("mine", InferParameter.getDefaultInstance()));
    }

    @Test
    void shouldPassOnTheRuntimesErrors() {
        assertThat(failure(request().setModelName("nobody")).getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(failure(request().setId("fail")).getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(failure(request().setId("refuse")).getDescription()).isEqualTo("the runtime refused");
    }

    @Test
    void shouldAskForTheModelBeforeAnythingElse() {
        ModelInferRequest.Builder request = request()
                .setModelName("nobody")
                .putParameters("timeout", text("wrong"))
                .addInputs(input("A", "INT32", 1));

        assertThat(failure(request).getDescription()).isEqualTo("Request for unknown model: 'nobody' is not found");
    }
}
