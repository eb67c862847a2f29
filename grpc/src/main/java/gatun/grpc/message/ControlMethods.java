// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Message;
import gatun.grpc.streams.InboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.runtime.server.ServerResources;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Methods with requests on the heap: size is checked, and heap reserved for the call, before parsing. */
public final class ControlMethods {
    /** Bytes of the heap that a byte of such a message may become, at worst: two of an empty field are an object. */
    private static final int HEAP_FACTOR = 16;

    private ControlMethods() {}

    /** Limits methods of protobuf's marshallers by {@link gatun.runtime.limits.RequestLimits#controlByteSize}. */
    public static ServerServiceDefinition limit(ServerServiceDefinition service, ServerResources server) {
        return InPlaceMethods.replace(
                service,
                service.getMethods().stream()
                        .<ServerMethodDefinition<?, ?>>map(method -> limit(method, server))
                        .toList());
    }

    private static <Q, R> ServerMethodDefinition<Q, R> limit(
            ServerMethodDefinition<Q, R> method, ServerResources server) {
        MethodDescriptor<Q, R> descriptor = method.getMethodDescriptor();
        MethodDescriptor<Q, R> limited = descriptor.toBuilder(
                        new Limited<>(descriptor.getRequestMarshaller(), server.limits(), server.heap()),
                        descriptor.getResponseMarshaller())
                .build();
        return ServerMethodDefinition.create(limited, method.getServerCallHandler());
    }

    private static final class Limited<Q> implements MethodDescriptor.PrototypeMarshaller<Q> {
        private final MethodDescriptor.PrototypeMarshaller<Q> generated;
        private final RequestLimits limits;
        private final HeapBudget heap;

        Limited(MethodDescriptor.Marshaller<Q> generated, RequestLimits limits, HeapBudget heap) {
            if (!(generated instanceof MethodDescriptor.PrototypeMarshaller<Q> known)) {
                throw new IllegalArgumentException("the marshaller " + generated + " is not one of protobuf's");
            }
            this.generated = known;
            this.limits = limits;
            this.heap = heap;
        }

        @Override
        public Q parse(InputStream stream) {
            if (!(stream instanceof InboundMessage inbound)) {
                return generated.parse(stream);
            }
            MemorySegment bytes = inbound.segment();
            Message prototype = (Message) generated.getMessagePrototype();
            try {
                long files = LoadedFiles.byteSize(prototype, bytes);
                long control = bytes.byteSize() - files;
                limits.requireControl(control);
                Hold reservation = heap.reserve(HEAP_FACTOR * control + files);
                // The context is the call's own, and cancelled at its end too.
                Context.current().addListener(ended -> reservation.close(), Runnable::run);
                CodedInputStream in = CodedInputStream.newInstance(bytes.asByteBuffer());
                Message message = prototype.getParserForType().parseFrom(in);
                in.checkLastTagWas(0);
                if (control > limits.textByteSize()) {
                    requireTexts(message);
                }
                @SuppressWarnings("unchecked") // the prototype's own parser made it
                Q request = (Q) message;
                return request;
            } catch (GatunException e) {
                throw StatusTable.toStatus(e).asRuntimeException();
            } catch (IOException e) {
                throw Status.INTERNAL
                        .withDescription("Invalid protobuf byte sequence")
                        .withCause(e)
                        .asRuntimeException();
            }
        }

        private void requireTexts(Message message) {
            message.getAllFields().forEach((field, value) -> {
                if (!LoadedFiles.isConfiguration(field)) {
                    requireTexts("'" + field.getName() + "'", value);
                }
            });
        }

        private void requireTexts(String name, Object value) {
            switch (value) {
                case String text -> limits.requireText(text.length(), name);
                case Message inner -> requireTexts(inner);
                case List<?> values -> values.forEach(one -> requireTexts(name, one));
                default -> {
                    // A number, or bytes.
                }
            }
        }

        @Override
        public InputStream stream(Q value) {
            return generated.stream(value);
        }

        @Override
        public Class<Q> getMessageClass() {
            return generated.getMessageClass();
        }

        @Override
        public Q getMessagePrototype() {
            return generated.getMessagePrototype();
        }
    }
}
