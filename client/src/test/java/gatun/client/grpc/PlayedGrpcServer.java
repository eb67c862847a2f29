// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.wire.inference.ModelInferRequest;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;

/** A gRPC server on a free port that answers ModelInfer with whatever bytes a test wants. */
final class PlayedGrpcServer implements AutoCloseable {
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    /** The headers of each call that came. */
    final List<Metadata> calls = new CopyOnWriteArrayList<>();

    private final Server server;
    private final String url;

    PlayedGrpcServer(BiConsumer<ModelInferRequest, ServerCallStreamObserver<byte[]>> infer) throws IOException {
        MethodDescriptor<byte[], byte[]> method =
                InferMethods.INFER.toBuilder(BYTES, BYTES).build();
        ServerCalls.UnaryMethod<byte[], byte[]> response = (request, observer) -> {
            try {
                infer.accept(ModelInferRequest.parseFrom(request), (ServerCallStreamObserver<byte[]>) observer);
            } catch (InvalidProtocolBufferException e) {
                throw new UncheckedIOException(e);
            }
        };
        server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .intercept(new Noting())
                .addService(ServerServiceDefinition.builder(method.getServiceName())
                        .addMethod(method, ServerCalls.asyncUnaryCall(response))
                        .build())
                .build()
                .start();
        url = "grpc://localhost:" + server.getPort();
    }

    String url() {
        return url;
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private final class Noting implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            calls.add(headers);
            return next.startCall(call, headers);
        }
    }
}
