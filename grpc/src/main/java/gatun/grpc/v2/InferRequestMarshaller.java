package gatun.grpc.v2;

import gatun.grpc.connection.InboundMessage;
import gatun.grpc.connection.OutboundMessage;
import gatun.grpc.connection.Placement;
import gatun.memory.GatunException;
import gatun.memory.Hold;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Reads ModelInferRequest messages where the connection has put them, without a copy. Safe for any thread.
 */
final class InferRequestMarshaller implements MethodDescriptor.Marshaller<InferMessage>, Placement {
    private static final Hold NOTHING = () -> {};

    private final InferDecoder decoder = new InferDecoder();

    /** Puts a message so that the data of its first tensor is aligned as the buffer is. */
    @Override
    public int offset(ByteBuffer start, long byteSize) {
        return RawAlignment.landingOffset(start);
    }

    @Override
    public InferMessage parse(InputStream stream) {
        try {
            if (stream instanceof InboundMessage inbound) {
                MemorySegment bytes = inbound.segment();
                InferMessage message = decoder.decode(bytes, NOTHING);
                message.own(inbound.takeOwnership());
                return message;
            }
            byte[] bytes = stream.readAllBytes();
            return decoder.decode(MemorySegment.ofArray(bytes), NOTHING);
        } catch (GatunException e) {
            throw StatusTable.toStatus(e).asRuntimeException();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputStream stream(InferMessage message) {
        return new OutboundMessage(new MemorySegment[] {message.bytes()}, message.takeOwnership());
    }
}
