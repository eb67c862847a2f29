// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.streams.InboundMessage;
import gatun.grpc.streams.Placement;
import gatun.memory.tensor.GatunException;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Reads messages where the connection has put them, without a copy. Safe for any thread.
 *
 * @param <M> the message
 */
public final class InPlaceMarshaller<M extends InferenceCall.Message>
        implements MethodDescriptor.Marshaller<M>, Placement {
    private final Function<MemorySegment, M> decoder;
    private final ToIntFunction<ByteBuffer> landing;

    /**
     * A marshaller.
     *
     * @param decoder reads a message, which owns nothing yet; throws {@link GatunException} when the bytes are none
     * @param landing how far into its buffer a message should be put, by its first bytes, so that its first tensor is
     *     aligned
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
