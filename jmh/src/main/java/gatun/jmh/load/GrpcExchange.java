// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** A gRPC connection of grpc-java on Netty that sends prepared message bytes to one unary method. */
final class GrpcExchange implements Exchange {
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

    /** The echo of {@link BenchServer}. */
    static final String ECHO = "bench.Echo/Call";

    private final ManagedChannel channel;
    private final MethodDescriptor<byte[], byte[]> method;
    private final byte[] request;

    GrpcExchange(int port, String fullMethodName, byte[] request) {
        this.request = request;
        channel = NettyChannelBuilder.forAddress("127.0.0.1", port)
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
        method = bytesMethod(fullMethodName);
    }

    /** A unary method whose messages are bytes. */
    static MethodDescriptor<byte[], byte[]> bytesMethod(String fullMethodName) {
        return MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(fullMethodName)
                .setRequestMarshaller(BYTES)
                .setResponseMarshaller(BYTES)
                .build();
    }

    @Override
    public void call() {
        ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
