// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.v1.protocol.V1Protocol;
import gatun.v2.protocol.V2Protocol;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The services in front of a {@link FakeServer}, and a client's means to call them. After each test nothing may be
 * left.
 */
final class ServiceFixture implements AfterEachCallback {
    private final FakeServer server = new FakeServer();
    private final TestServer edge =
            new TestServer(server, TestServerSettings.usual(), V2Protocol::new, V1Protocol::new);
    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub =
            GRPCInferenceServiceGrpc.newBlockingStub(edge.channel());

    /** The server behind the services. */
    FakeServer server() {
        return server;
    }

    /** Announces the stop, as a server does before it stops its listeners. */
    void announceStop() {
        edge.announceStop();
    }

    /** A client's connection. */
    ManagedChannel channel() {
        return edge.channel();
    }

    /** A client that waits for responses. */
    GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub() {
        return stub;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        edge.close();
        server.awaitNothingHeld();
        server.close();
    }

    static ModelInferRequest.Builder request() {
        return ModelInferRequest.newBuilder().setModelName(FakeServer.MODEL);
    }

    static ModelInferRequest.InferInputTensor.Builder input(String name, String datatype, long... shape) {
        ModelInferRequest.InferInputTensor.Builder input =
                ModelInferRequest.InferInputTensor.newBuilder().setName(name).setDatatype(datatype);
        for (long dim : shape) {
            input.addShape(dim);
        }
        return input;
    }

    static InferParameter text(String value) {
        return InferParameter.newBuilder().setStringParam(value).build();
    }

    static InferParameter number(long value) {
        return InferParameter.newBuilder().setInt64Param(value).build();
    }

    static ByteString random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    Status failure(ModelInferRequest.Builder request) {
        StatusRuntimeException failure =
                catchThrowableOfType(StatusRuntimeException.class, () -> stub.modelInfer(request.build()));
        assertThat(failure).as("the call fails").isNotNull();
        return failure.getStatus();
    }

    void assertInvalid(String text, Consumer<ModelInferRequest.Builder> change) {
        ModelInferRequest.Builder request = request();
        change.accept(request);
        Status status = failure(request);
        assertThat(status.getDescription()).isEqualTo(text);
        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    static MethodDescriptor<byte[], ModelInferResponse> rawRequests() {
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
}
