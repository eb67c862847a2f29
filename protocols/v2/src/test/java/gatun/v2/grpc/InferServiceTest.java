// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static gatun.v2.grpc.ServiceFixture.input;
import static gatun.v2.grpc.ServiceFixture.number;
import static gatun.v2.grpc.ServiceFixture.random;
import static gatun.v2.grpc.ServiceFixture.rawRequests;
import static gatun.v2.grpc.ServiceFixture.request;
import static gatun.v2.grpc.ServiceFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.grpc.ResponseCompression;
import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.v2.lane.LaneSettings;
import gatun.v2.protocol.V2Protocol;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class InferServiceTest {
    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub = service.stub();

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
        assertThat(service.server().misaligned()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldCompressResponsesAsMuchAsItIsTold(ResponseCompression level) {
        try (TestServer edge = new TestServer(
                service.server(),
                TestServerSettings.usual(),
                (server, settings) -> new V2Protocol(server, settings, level, LaneSettings.STANDARD))) {
            AtomicReference<Metadata> headers = new AtomicReference<>();
            ModelInferRequest request = request()
                    .addInputs(input("A", "INT32", 5000))
                    .addRawInputContents(random(20_000))
                    .build();

            ModelInferResponse response = GRPCInferenceServiceGrpc.newBlockingStub(edge.channel())
                    .withInterceptors(MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>()))
                    .modelInfer(request);

            assertThat(response.getRawOutputContentsList()).isEqualTo(request.getRawInputContentsList());
            assertThat(Objects.requireNonNull(headers.get())
                            .get(Metadata.Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER)))
                    .isEqualTo(level == ResponseCompression.NONE ? null : "gzip");
        }
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
        assertThat(service.server().misaligned()).isZero();
    }

    @Test
    void shouldUnderstandFieldsInAnyOrder() {
        ModelInferRequest head = request().addInputs(input("A", "INT64", 1)).build();
        ModelInferRequest data =
                ModelInferRequest.newBuilder().addRawInputContents(random(8)).build();
        // Two encoded messages one after the other are one message.
        byte[] bytes = data.toByteString().concat(head.toByteString()).toByteArray();

        ModelInferResponse response =
                ClientCalls.blockingUnaryCall(service.channel(), rawRequests(), CallOptions.DEFAULT, bytes);

        assertThat(response.getRawOutputContents(0)).isEqualTo(random(8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0a", "0a0541", "2a01ff"})
    void shouldRefuseBytesThatAreNoMessage(String hex) {
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(
                        service.channel(),
                        rawRequests(),
                        CallOptions.DEFAULT,
                        java.util.HexFormat.of().parseHex(hex)));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(failure.getStatus().getDescription()).startsWith("the request message is not valid");
    }

    @Test
    void shouldRefuseWhatIsWrongWithTensorData() {
        service.assertInvalid(
                "unable to find data for input tensor 'A' for model 'echo' in request.",
                r -> r.addInputs(input("A", "INT32", 1)));
        service.assertInvalid(
                "contents field must not be specified when using raw_input_contents for 'A' for model 'echo'",
                r -> r.addInputs(input("A", "INT32", 1)
                                .setContents(InferTensorContents.newBuilder().addIntContents(1)))
                        .addRawInputContents(random(4)));
        service.assertInvalid(
                "unexpected explicit tensor data for input tensor 'A' for model 'echo' of type 'INT64', expected"
                        + " datatype"
                        + " 'INT32'",
                r -> r.addInputs(input("A", "INT32", 1)
                        .setContents(InferTensorContents.newBuilder().addInt64Contents(1))));
        service.assertInvalid(
                "unexpected explicit tensor data for input tensor 'A' for model 'echo' of type 'FP32', expected"
                        + " datatype"
                        + " 'FP16'",
                r -> r.addInputs(input("A", "FP16", 1)
                        .setContents(InferTensorContents.newBuilder().addFp32Contents(1))));
    }

    @Test
    void shouldRefuseWhatIsWrongWithRegions() {
        String offsetAlone =
                "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter for tensor 'A'";
        service.assertInvalid(
                "invalid value type for 'shared_memory_region' parameter for tensor 'A', expected string_param.",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_region", number(1))));
        service.assertInvalid(
                "invalid value type for 'shared_memory_offset' parameter for tensor 'A', expected int64_param.",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_offset", text("1"))));
        service.assertInvalid(
                offsetAlone, r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_offset", number(1))));
        service.assertInvalid(
                "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter for tensor"
                        + " 'A'",
                r -> r.addInputs(input("A", "INT32", 1).putParameters("shared_memory_region", text("r"))));
        service.assertInvalid(
                "unexpected 'content' provided when using shared memory for input tensor 'A' for model 'echo'",
                r -> r.addInputs(input("A", "INT32", 1)
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_byte_size", number(4))
                        .setContents(InferTensorContents.newBuilder().addIntContents(1))));
        service.assertInvalid(
                "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter for tensor 'O'",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("shared_memory_offset", number(1))));
        service.assertInvalid(
                "invalid value type for 'classification' parameter, expected int64_param",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("classification", text("1"))));
        service.assertInvalid(
                "invalid value for 'classification' parameter, expected >= 0",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("classification", number(0))));
        service.assertInvalid(
                "output can't set both 'shared_memory_region' and 'classification'",
                r -> r.addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("O")
                        .putParameters("shared_memory_region", text("r"))
                        .putParameters("shared_memory_byte_size", number(4))
                        .putParameters("classification", number(1))));
        assertThat(service.failure(request()
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
        service.server().regions().memory("r").set(ValueLayout.JAVA_LONG, 8, 42);

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

        assertThat(service.server().regions().memory("r").get(ValueLayout.JAVA_LONG, 64))
                .isEqualTo(42);
        assertThat(response.getRawOutputContentsList()).containsExactly(ByteString.EMPTY, random(2));
        assertThat(response.getOutputs(0).getParametersMap()).isEmpty();
    }

    @Test
    void shouldPassOnTheRuntimesErrors() {
        assertThat(service.failure(request().setModelName("nobody")).getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(service.failure(request().setId("fail")).getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(service.failure(request().setId("refuse")).getDescription()).isEqualTo("the runtime refused");
    }

    @Test
    void shouldAskForTheModelBeforeAnythingElse() {
        ModelInferRequest.Builder request = request()
                .setModelName("nobody")
                .putParameters("timeout", text("wrong"))
                .addInputs(input("A", "INT32", 1));

        assertThat(service.failure(request).getDescription())
                .isEqualTo("Request for unknown model: 'nobody' is not found");
    }
}
