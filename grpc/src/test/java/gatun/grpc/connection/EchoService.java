// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.streams.InboundMessage.Placement;
import io.grpc.CallOptions;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Random;

/** A service of plain bytes that answers with what it was sent, in all four kinds of call. */
final class EchoService {
    static final String NAME = "test.Echo";
    static final MethodDescriptor<byte[], byte[]> UNARY = method("Unary", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> JOIN = method("Join", MethodType.CLIENT_STREAMING);
    static final MethodDescriptor<byte[], byte[]> REPEAT = method("Repeat", MethodType.SERVER_STREAMING);
    static final MethodDescriptor<byte[], byte[]> BIDI = method("Bidi", MethodType.BIDI_STREAMING);

    /** How often Repeat answers. */
    static final int REPETITIONS = 10;

    private EchoService() {}

    static ServerServiceDefinition definition() {
        return ServerServiceDefinition.builder(NAME)
                .addMethod(UNARY, ServerCalls.asyncUnaryCall(EchoService::unary))
                .addMethod(JOIN, ServerCalls.asyncClientStreamingCall(Joiner::new))
                .addMethod(REPEAT, ServerCalls.asyncServerStreamingCall(EchoService::repeat))
                .addMethod(BIDI, ServerCalls.asyncBidiStreamingCall(Echoer::new))
                .build();
    }

    /** A service with one method. */
    static ServerServiceDefinition of(
            MethodDescriptor<byte[], byte[]> method, ServerCallHandler<byte[], byte[]> handler) {
        return ServerServiceDefinition.builder(NAME).addMethod(method, handler).build();
    }

    static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.<byte[], byte[]>newBuilder()
                .setFullMethodName(NAME + "/" + name)
                .setType(type)
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(new Bytes())
                .build();
    }

    private static void unary(byte[] request, StreamObserver<byte[]> answer) {
        answer.onNext(request);
        answer.onCompleted();
    }

    private static void repeat(byte[] request, StreamObserver<byte[]> answer) {
        for (int i = 0; i < REPETITIONS; i++) {
            answer.onNext(request);
        }
        answer.onCompleted();
    }

    private record Echoer(StreamObserver<byte[]> answer) implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] message) {
            answer.onNext(message);
        }

        @Override
        public void onError(Throwable t) {
            // The client is gone: there is nobody to tell.
        }

        @Override
        public void onCompleted() {
            answer.onCompleted();
        }
    }

    private static final class Joiner implements StreamObserver<byte[]> {
        private final StreamObserver<byte[]> answer;
        private byte[] joined = {};

        Joiner(StreamObserver<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(byte[] message) {
            byte[] longer = java.util.Arrays.copyOf(joined, joined.length + message.length);
            System.arraycopy(message, 0, longer, joined.length, message.length);
            joined = longer;
        }

        @Override
        public void onError(Throwable t) {
            // The client is gone: there is nobody to tell.
        }

        @Override
        public void onCompleted() {
            answer.onNext(joined);
            answer.onCompleted();
        }
    }

    /** Also placed, as the messages of calls that may run on reading threads are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]>, Placement {
        @Override
        public int offset(ByteBuffer start, long byteSize) {
            return 0;
        }

        @Override
        public InputStream stream(byte[] value) {
            return new Known(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final class Known extends ByteArrayInputStream implements KnownLength {
        Known(byte[] bytes) {
            super(bytes);
        }
    }

    /** Calls the service with {@code message}; returns the response. */
    static byte[] echo(ManagedChannel channel, byte[] message) {
        return ClientCalls.blockingUnaryCall(channel, UNARY, CallOptions.DEFAULT, message);
    }

    /** As many bytes, always the same. */
    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
