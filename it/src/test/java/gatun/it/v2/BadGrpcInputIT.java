// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.RawGrpc;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferRequest.InferRequestedOutputTensor;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelMetadataRequest;
import gatun.wire.inference.ModelReadyRequest;
import gatun.wire.inference.ModelStreamInferResponse;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.util.Arrays;
import java.util.Collections;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Errors of a client over gRPC harm nobody else: it gets a clear response, nothing leaks, and the next request works.
 */
class BadGrpcInputIT {
    private static final String OK = "0";
    private static final String INVALID_ARGUMENT = "3";

    @RegisterExtension
    static final ServerExtension SERVER = ServerExtension.checkedForLeaks("--allow-client-shm");

    private static void assertRefused(Runnable call, Code code, String reason) {
        StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
        assertThat(failure).as("the call fails").isNotNull();
        assertThat(failure.getStatus().getDescription()).contains(reason);
        assertThat(failure.getStatus().getCode()).as("%s", failure.getStatus()).isEqualTo(code);
    }

    private static void assertRefused(ModelInferRequest request, Code code, String reason) {
        assertRefused(() -> SERVER.grpc().service().modelInfer(request), code, reason);
    }

    private static Arguments wrong(Consumer<ModelInferRequest.Builder> change, Code code, String reason) {
        ModelInferRequest.Builder request = SimpleModel.grpc().toBuilder();
        change.accept(request);
        return Arguments.of(request.build(), code, reason);
    }

    private static Arguments wrong(Consumer<ModelInferRequest.Builder> change, String reason) {
        return wrong(change, Code.INVALID_ARGUMENT, reason);
    }

    private static Arguments wrongLeft(Consumer<InferInputTensor.Builder> change, String reason) {
        return wrong(request -> change.accept(request.getInputsBuilder(0)), reason);
    }

    private static Arguments wrongBoth(Consumer<InferInputTensor.Builder> change, String reason) {
        return wrong(
                request -> {
                    change.accept(request.getInputsBuilder(0));
                    change.accept(request.getInputsBuilder(1));
                },
                reason);
    }

    private static ByteString zeros(int size) {
        return ByteString.copyFrom(new byte[size]);
    }

    private static InferTensorContents ints(int count) {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        for (int i = 0; i < count; i++) {
            contents.addIntContents(i);
        }
        return contents.build();
    }

    static Stream<Arguments> wrongRequests() {
        InferInputTensor.Builder third =
                SimpleModel.grpc().getInputs(0).toBuilder().setName("INPUT2");
        return Stream.of(
                wrong(r -> r.setModelName("none"), Code.NOT_FOUND, "none"),
                wrong(r -> r.setModelName(""), Code.NOT_FOUND, "''"),
                wrong(r -> r.setModelVersion("99"), Code.NOT_FOUND, "99"),
                wrong(r -> r.setModelVersion("one"), "one"),
                // Wrong, missing and surplus tensors.
                wrongLeft(i -> i.setName("OTHER"), "OTHER"),
                wrong(r -> r.clearInputs().clearRawInputContents(), "expected 2 inputs but got 0"),
                wrong(r -> r.removeInputs(1), "expected 2 inputs but got 1"),
                wrong(
                        r -> r.removeInputs(1).clearRawInputContents().addRawInputContents(zeros(64)),
                        "expected 2 inputs but got 1"),
                wrong(r -> r.addInputs(third).addRawInputContents(zeros(64)), "INPUT2"),
                wrong(r -> r.addInputs(r.getInputs(0)).addRawInputContents(zeros(64)), "INPUT0"),
                wrong(r -> r.addOutputs(InferRequestedOutputTensor.newBuilder().setName("NONE")), "NONE"),
                // Datatypes.
                wrongLeft(i -> i.setDatatype("NONE"), "data-type"),
                wrongLeft(i -> i.setDatatype(""), "data-type"),
                wrongLeft(i -> i.setDatatype("FP32"), "FP32"),
                wrongLeft(i -> i.setDatatype("BYTES"), "INPUT0"),
                // Shapes.
                wrongLeft(i -> i.clearShape(), "INPUT0"),
                wrongLeft(i -> i.setShape(1, 17), "[1,17]"),
                wrongBoth(i -> i.clearShape().addShape(8), "[8]"),
                wrongLeft(i -> i.setShape(0, 2), "batch size"),
                wrongBoth(i -> i.setShape(0, 0), "batch-size must be >= 1"),
                wrongBoth(i -> i.setShape(0, 9), "batch-size must be <= 8"),
                wrongLeft(i -> i.setShape(0, -1), "batch size"),
                wrongBoth(i -> i.setShape(0, -1), "[-1,16]"),
                wrongLeft(i -> i.setShape(1, -16), "INPUT0"),
                wrongLeft(i -> i.setShape(1, Long.MAX_VALUE), "INPUT0"),
                wrongBoth(i -> i.setShape(0, Long.MAX_VALUE).setShape(1, Long.MAX_VALUE), "batch-size"),
                wrongBoth(i -> i.setShape(0, Long.MIN_VALUE), "[-9223372036854775808,16]"),
                wrongLeft(i -> i.setShape(1, 1L << 62), "INPUT0"),
                wrongLeft(i -> i.addAllShape(Collections.nCopies(2000, 1L)), "1024"),
                // Sizes.
                wrong(r -> r.setRawInputContents(0, ByteString.EMPTY), "INPUT0"),
                wrong(r -> r.setRawInputContents(0, zeros(63)), "INPUT0"),
                wrong(r -> r.setRawInputContents(0, zeros(65)), "INPUT0"),
                wrong(r -> r.clearRawInputContents(), "INPUT0"),
                wrong(r -> r.getInputsBuilder(0).setContents(ints(16)), "INPUT0"),
                wrong(r -> typed(r, ints(15)), "INPUT0"),
                wrong(r -> typed(r, ints(17)), "INPUT0"),
                wrong(
                        r -> typed(
                                r,
                                InferTensorContents.newBuilder()
                                        .addFp32Contents(1)
                                        .build()),
                        "INPUT0"));
    }

    private static void typed(ModelInferRequest.Builder request, InferTensorContents left) {
        request.clearRawInputContents();
        request.getInputsBuilder(0).setContents(left);
        request.getInputsBuilder(1).setContents(ints(16));
    }

    @ParameterizedTest
    @MethodSource("wrongRequests")
    void shouldRefuseAWrongRequest(ModelInferRequest request, Code code, String reason) {
        assertRefused(request, code, reason);
    }

    @Test
    void shouldNotKnowAnUnknownModel() {
        assertRefused(
                () -> SERVER.grpc()
                        .service()
                        .modelMetadata(ModelMetadataRequest.newBuilder()
                                .setName("none")
                                .build()),
                Code.NOT_FOUND,
                "none");
    }

    /** As clients of the reference rely on: that a model is not ready is the response, not a failure. */
    @Test
    void shouldSayThatAnUnknownModelOrVersionIsNotReady() {
        assertThat(ready("simple", "")).isTrue();
        assertThat(ready("simple", "99")).isFalse();
        assertThat(ready("none", "")).isFalse();
        assertRefused(() -> ready("simple", "first"), Code.INVALID_ARGUMENT, "first");
    }

    private static boolean ready(String model, String version) {
        return SERVER.grpc()
                .service()
                .modelReady(ModelReadyRequest.newBuilder()
                        .setName(model)
                        .setVersion(version)
                        .build())
                .getReady();
    }

    private static SystemSharedMemoryRegisterRequest.Builder region(String key) {
        return SystemSharedMemoryRegisterRequest.newBuilder()
                .setName("small")
                .setKey(key)
                .setByteSize(64);
    }

    private static void register(SystemSharedMemoryRegisterRequest.Builder region) {
        assertThat(SERVER.grpc().service().systemSharedMemoryRegister(region.build()))
                .isNotNull();
    }

    private static ModelInferRequest leftIn(String region, long offset, long byteSize) {
        ModelInferRequest.Builder request = SimpleModel.grpc().toBuilder();
        typed(request, ints(16));
        request.getInputsBuilder(0)
                .clearContents()
                .putParameters("shared_memory_region", text(region))
                .putParameters("shared_memory_offset", number(offset))
                .putParameters("shared_memory_byte_size", number(byteSize));
        return request.build();
    }

    private static InferParameter text(String value) {
        return InferParameter.newBuilder().setStringParam(value).build();
    }

    private static InferParameter number(long value) {
        return InferParameter.newBuilder().setInt64Param(value).build();
    }

    @Test
    void shouldRefuseRegionsAndWindowsThatAreNotThere() throws Exception {
        try (SharedObject object = SharedObject.create(64)) {
            String key = object.key();
            assertRefused(() -> register(region("/gatun-it-none")), Code.INTERNAL, "/gatun-it-none");
            assertRefused(() -> register(region("/../etc/passwd")), Code.INVALID_ARGUMENT, "/../etc/passwd");
            assertRefused(() -> register(region(key).setByteSize(65)), Code.INVALID_ARGUMENT, "small");
            assertRefused(() -> register(region(key).setByteSize(-1)), Code.INVALID_ARGUMENT, "small");
            assertRefused(() -> register(region(key).setOffset(-1)), Code.INVALID_ARGUMENT, "small");
            assertRefused(() -> register(region(key).setOffset(Long.MAX_VALUE)), Code.INVALID_ARGUMENT, "small");
            register(region(key));
            assertRefused(() -> register(region(key)), Code.ALREADY_EXISTS, "small");
            assertRefused(leftIn("none", 0, 64), Code.NOT_FOUND, "none");
            assertRefused(leftIn("small", 0, 128), Code.INVALID_ARGUMENT, "small");
            assertRefused(leftIn("small", 1, 64), Code.INVALID_ARGUMENT, "small");
            assertRefused(leftIn("small", -1, 64), Code.INVALID_ARGUMENT, "small");
            assertRefused(leftIn("small", Long.MAX_VALUE, 64), Code.INVALID_ARGUMENT, "small");
            assertRefused(leftIn("small", 0, 60), Code.INVALID_ARGUMENT, "INPUT0");
            SERVER.grpc()
                    .service()
                    .systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.newBuilder()
                            .setName("small")
                            .build());
        }
    }

    /** The engine finds out only while it runs, when its tensors of strings are made. */
    @Test
    void shouldFreeTheTensorsOfRequestsThatTheEngineRefuses() {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("simple_string");
        for (String name : new String[] {"INPUT0", "INPUT1"}) {
            InferTensorContents.Builder contents = InferTensorContents.newBuilder();
            for (int i = 0; i < 16; i++) {
                contents.addBytesContents(ByteString.copyFromUtf8(i == 5 ? "no number" : "1"));
            }
            request.addInputsBuilder()
                    .setName(name)
                    .setDatatype("BYTES")
                    .addShape(1)
                    .addShape(16)
                    .setContents(contents);
        }
        for (int i = 0; i < 50; i++) {
            assertRefused(request.build(), Code.INVALID_ARGUMENT, "onnx runtime error");
        }
    }

    private static void assertRefused(RawGrpc call, String status, String reason) throws Exception {
        HttpFields trailers = call.awaitTrailers();
        assertThat(trailers.get("grpc-message")).contains(reason);
        assertThat(trailers.get("grpc-status")).isEqualTo(status);
    }

    @ParameterizedTest
    @MethodSource("methods")
    void shouldRefuseHalfAMessage(String method) throws Exception {
        byte[] message = SimpleModel.grpc().toByteArray();
        try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), method)) {
            call.message(message.length, Arrays.copyOf(message, message.length / 2))
                    .end();
            assertRefused(call, INVALID_ARGUMENT, "message");
        }
    }

    static Stream<String> methods() {
        return Stream.of("ModelInfer", "ModelStreamInfer", "ModelMetadata");
    }

    @Test
    void shouldRefuseMessagesThatAreCutOrNoMessagesAtAll() throws Exception {
        byte[] message = SimpleModel.grpc().toByteArray();
        byte[] noise = new byte[1000];
        Arrays.fill(noise, (byte) 0xff);
        // Field 100 as a group within a group and so on, which no field of the protocol is.
        byte[] groups = new byte[200_000];
        for (int i = 0; i < groups.length; i += 2) {
            groups[i] = (byte) 0xa3;
            groups[i + 1] = 6;
        }
        for (byte[] wrong : new byte[][] {Arrays.copyOf(message, message.length - 1), noise, groups}) {
            try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer")) {
                call.message(wrong.length, wrong).end();
                assertRefused(call, INVALID_ARGUMENT, "message is not valid");
            }
        }
    }

    @Test
    void shouldRefuseAMessageThatIsLongerThanAnnounced() throws Exception {
        byte[] message = SimpleModel.grpc().toByteArray();
        try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer")) {
            call.message(message.length - 10, message).end();
            assertThat(call.awaitTrailers().get("grpc-status")).isNotEqualTo(OK);
        }
    }

    @Test
    void shouldNotMakeRoomForAMessageThatIsOnlyAnnounced() throws Exception {
        try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer")) {
            call.message(-1, (byte) 1).end();
            assertThat(call.awaitTrailers().get("grpc-status")).isEqualTo("8");
        }
    }

    @Test
    void shouldSurviveClientsThatLeaveInTheMiddleOfTheirMessage() throws Exception {
        byte[] message = SimpleModel.grpc().toByteArray();
        for (int sent = 0; sent < message.length; sent += 7) {
            try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer")) {
                call.message(message.length, Arrays.copyOf(message, sent));
            }
        }
        try (RawGrpc call = RawGrpc.call(SERVER.grpcAddress(), "ModelStreamInfer")) {
            call.message(1_000_000, new byte[10_000]);
            // The bytes that have come, not those that were announced.
            SERVER.awaitLentBytes(10_000);
        }
    }

    private static ModelInferRequest identity(int byteSize) {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("identity_fp32");
        request.addInputsBuilder().setName("INPUT0").setDatatype("FP32").addShape(byteSize / Float.BYTES);
        return request.addRawInputContents(zeros(byteSize)).build();
    }

    /** A stream whose responses the client does not take, at first. */
    private static ClientCall<ModelInferRequest, ModelStreamInferResponse> silentStream(GrpcClient client) {
        ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
                client.channel().newCall(GRPCInferenceServiceGrpc.getModelStreamInferMethod(), CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {}, new Metadata());
        return call;
    }

    @Test
    void shouldServeOthersWhileAClientDoesNotReadItsAnswers() {
        // Far more than the windows of HTTP/2 and the sockets' buffers take.
        int byteSize = 4 << 20;
        ClientCall<ModelInferRequest, ModelStreamInferResponse> call = silentStream(SERVER.grpc());
        ModelInferRequest request = identity(byteSize);
        for (int i = 0; i < 16; i++) {
            call.sendMessage(request);
        }
        SERVER.awaitLentBytes(8L * byteSize);
        SERVER.assertAnswers();
        call.cancel("the client has lost interest", Status.CANCELLED.asRuntimeException());
    }

    @Test
    void shouldGiveBackWhatClientsThatDisconnectLeave() {
        int byteSize = 4 << 20;
        for (int i = 0; i < 3; i++) {
            try (GrpcClient leaving = GrpcClient.tcp(SERVER.grpcAddress().getPort())) {
                ClientCall<ModelInferRequest, ModelStreamInferResponse> stream = silentStream(leaving);
                ModelInferRequest request = identity(byteSize);
                for (int k = 0; k < 8; k++) {
                    stream.sendMessage(request);
                }
                ClientCall<ModelInferRequest, ModelInferResponse> single =
                        leaving.channel().newCall(GRPCInferenceServiceGrpc.getModelInferMethod(), CallOptions.DEFAULT);
                single.start(new ClientCall.Listener<>() {}, new Metadata());
                single.sendMessage(request);
                single.halfClose();
                SERVER.awaitLentBytes(4L * byteSize);
            }
        }
    }
}
