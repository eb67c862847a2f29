// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * A service with a method of each kind, with names of one letter. A message is answered with the low bits of its size.
 */
final class CountingService {
    private static final String NAME = "f";
    private static final int REPETITIONS = 3;

    private CountingService() {}

    static ServerServiceDefinition definition() {
        return ServerServiceDefinition.builder(NAME)
                .addMethod(method("u", MethodType.UNARY), ServerCalls.asyncUnaryCall(CountingService::answer))
                .addMethod(
                        method("s", MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(CountingService::answerOften))
                .addMethod(method("b", MethodType.BIDI_STREAMING), ServerCalls.asyncBidiStreamingCall(Answering::new))
                .addMethod(method("c", MethodType.CLIENT_STREAMING), ServerCalls.asyncClientStreamingCall(Summing::new))
                .build();
    }

    private static MethodDescriptor<Integer, Integer> method(String name, MethodType type) {
        return MethodDescriptor.<Integer, Integer>newBuilder()
                .setFullMethodName(NAME + "/" + name)
                .setType(type)
                .setRequestMarshaller(new Size())
                .setResponseMarshaller(new Size())
                .build();
    }

    private static void answer(int size, StreamObserver<Integer> answer) {
        answer.onNext(size);
        answer.onCompleted();
    }

    private static void answerOften(int size, StreamObserver<Integer> answer) {
        for (int i = 0; i < REPETITIONS; i++) {
            answer.onNext(size);
        }
        answer.onCompleted();
    }

    private record Answering(StreamObserver<Integer> answer) implements StreamObserver<Integer> {
        @Override
        public void onNext(Integer size) {
            answer.onNext(size);
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

    private static final class Summing implements StreamObserver<Integer> {
        private final StreamObserver<Integer> answer;
        private int sum;

        Summing(StreamObserver<Integer> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(Integer size) {
            sum += size;
        }

        @Override
        public void onError(Throwable t) {
            // The client is gone: there is nobody to tell.
        }

        @Override
        public void onCompleted() {
            answer.onNext(sum);
            answer.onCompleted();
        }
    }

    private static final class Size implements MethodDescriptor.Marshaller<Integer> {
        @Override
        public InputStream stream(Integer value) {
            return new ByteArrayInputStream(new byte[] {value.byteValue()});
        }

        @Override
        public Integer parse(InputStream stream) {
            try {
                return stream.readAllBytes().length;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
