// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.connection.OutboundMessage;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Passes on messages that are encoded already. */
public final class EncodedMarshaller implements MethodDescriptor.Marshaller<OutboundMessage> {
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
