// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceStream;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.Origin;
import gatun.runtime.access.PeerLocation;
import io.grpc.Metadata;
import java.util.Optional;

/** Converts the messages and responses of one StreamInfer call. A failure is a response, and the stream goes on. */
final class StreamExchange implements InferenceStream.Exchange<V1InferMessage> {
    private static final Origin ORIGIN = new Origin(202, "v1", "grpc_stream");

    private final Inferences inferences;
    private final Metadata headers;
    private final PeerLocation client = CallLocation.current();

    /** The call of the thread that makes it, with these headers. */
    StreamExchange(Inferences inferences, Metadata headers) {
        this.inferences = inferences;
        this.headers = headers;
    }

    @Override
    public InferenceRequest request(V1InferMessage message) {
        return inferences.request(message, headers, client, ORIGIN);
    }

    @Override
    public OutboundMessage answer(V1InferMessage message, InferenceResponse response, boolean last) {
        return inferences.answer(message, response);
    }

    /** Models with several responses were refused. */
    @Override
    public Optional<OutboundMessage> end(V1InferMessage message, InferenceRequest request) {
        return Optional.empty();
    }

    @Override
    public Optional<OutboundMessage> failure(V1InferMessage message, GatunException failure, boolean executed) {
        return Optional.of(inferences.failure(message, failure));
    }
}
