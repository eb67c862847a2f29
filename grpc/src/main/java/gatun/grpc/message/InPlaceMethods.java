// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.streams.InboundMessage;
import gatun.grpc.streams.InboundMessage.Placement;
import gatun.memory.tensor.GatunException;
import gatun.runtime.server.InferenceService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** Methods whose messages are read where they lie, in the place of those that protoc made. */
public final class InPlaceMethods {
    private static final Status EXITING =
            Status.UNAVAILABLE.withDescription("GRPC server is shutting down and has stopped accepting new requests.");

    private InPlaceMethods() {}

    /** The {@code generated} method, answered by {@code handler}; refuses calls that begin while the server stops. */
    public static <M extends InferenceCall.Message> ServerMethodDefinition<M, OutboundMessage> method(
            MethodDescriptor<?, ?> generated,
            InPlaceMarshaller<M> marshaller,
            InferenceService server,
            ServerCallHandler<M, OutboundMessage> handler) {
        MethodDescriptor<M, OutboundMessage> descriptor =
                generated.toBuilder(marshaller, new EncodedMarshaller()).build();
        return ServerMethodDefinition.create(
                descriptor, (call, headers) -> server.exiting() ? refuse(call) : handler.startCall(call, headers));
    }

    private static <M extends InferenceCall.Message> ServerCall.Listener<M> refuse(
            ServerCall<M, OutboundMessage> call) {
        call.close(EXITING, new Metadata());
        return new ServerCall.Listener<>() {
            @Override
            public void onMessage(M message) {
                message.close();
            }
        };
    }

    /** The service with {@code replacements} in the place of its methods of the same names. */
    public static ServerServiceDefinition replace(
            ServerServiceDefinition service, List<ServerMethodDefinition<?, ?>> replacements) {
        Set<String> replaced = replacements.stream()
                .map(method -> method.getMethodDescriptor().getFullMethodName())
                .collect(Collectors.toSet());
        List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>(replacements);
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
            if (!replaced.contains(method.getMethodDescriptor().getFullMethodName())) {
                methods.add(method);
            }
        }
        ServiceDescriptor generated = service.getServiceDescriptor();
        ServiceDescriptor.Builder descriptor =
                ServiceDescriptor.newBuilder(generated.getName()).setSchemaDescriptor(generated.getSchemaDescriptor());
        methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
        ServerServiceDefinition.Builder assembled = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(assembled::addMethod);
        return assembled.build();
    }

    /** Passes on messages that are encoded already. */
    public static final class EncodedMarshaller implements MethodDescriptor.Marshaller<OutboundMessage> {
        /** One for a method; it has no state. */
        public EncodedMarshaller() {}

        @Override
        public InputStream stream(OutboundMessage message) {
            return message;
        }

        @Override
        public OutboundMessage parse(InputStream stream) {
            try {
                return OutboundMessage.of(stream.readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Reads messages where the connection has put them, without a copy. Safe for any thread. */
    public static final class InPlaceMarshaller<M extends InferenceCall.Message>
            implements MethodDescriptor.Marshaller<M>, Placement {
        private final Function<MemorySegment, M> decoder;
        private final ToIntFunction<ByteBuffer> landing;

        /**
         * {@code decoder} reads a message, which owns nothing yet, or throws {@link GatunException}; {@code landing}
         * tells by its first bytes how far into its buffer it is put, so that its first tensor is aligned.
         */
        public InPlaceMarshaller(Function<MemorySegment, M> decoder, ToIntFunction<ByteBuffer> landing) {
            this.decoder = decoder;
            this.landing = landing;
        }

        /** Puts a message so that the data of its first tensor is aligned as the buffer is. */
        @Override
        public int offset(ByteBuffer start, long byteSize) {
            return landing.applyAsInt(start);
        }

        @Override
        public M parse(InputStream stream) {
            try {
                if (stream instanceof InboundMessage inbound) {
                    M message = decoder.apply(inbound.segment());
                    message.own(inbound.takeOwnership());
                    return message;
                }
                return decoder.apply(MemorySegment.ofArray(stream.readAllBytes()));
            } catch (GatunException e) {
                throw StatusTable.toStatus(e).asRuntimeException();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public InputStream stream(M message) {
            return new OutboundMessage(new MemorySegment[] {message.bytes()}, message.takeOwnership());
        }
    }
}
