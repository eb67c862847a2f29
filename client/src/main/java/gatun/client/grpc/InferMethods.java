// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.wire.inference.GRPCInferenceServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.InputStream;
import java.util.function.Function;

/** The methods that carry tensors, read and written by this package instead of by protobuf's classes. */
final class InferMethods {
    static final MethodDescriptor<InferRequestMessage, InferResponseMessage> INFER =
            GRPCInferenceServiceGrpc.getModelInferMethod().toBuilder(
                            new Requests(), new Responses(InferResponseMessage::parse))
                    .build();

    /** An inference whose memory one thread may read. A stream's method, since gRPC reports connections to these. */
    static final MethodDescriptor<InferRequestMessage, InferResponseMessage> INFER_WHEN_CONNECTED = INFER.toBuilder()
            .setType(MethodDescriptor.MethodType.CLIENT_STREAMING)
            .build();

    static final MethodDescriptor<InferRequestMessage, InferResponseMessage> STREAM =
            GRPCInferenceServiceGrpc.getModelStreamInferMethod().toBuilder(
                            new Requests(), new Responses(InferResponseMessage::parseStreamed))
                    .build();

    private InferMethods() {}

    private static final class Requests implements Marshaller<InferRequestMessage> {
        @Override
        public InputStream stream(InferRequestMessage message) {
            return message.stream();
        }

        @Override
        public InferRequestMessage parse(InputStream stream) {
            throw new UnsupportedOperationException("a client reads no requests");
        }
    }

    /** {@code parse} reads a response. */
    private record Responses(Function<InputStream, InferResponseMessage> parse)
            implements Marshaller<InferResponseMessage> {
        @Override
        public InputStream stream(InferResponseMessage response) {
            throw new UnsupportedOperationException("a client writes no answers");
        }

        @Override
        public InferResponseMessage parse(InputStream stream) {
            return parse.apply(stream);
        }
    }
}
