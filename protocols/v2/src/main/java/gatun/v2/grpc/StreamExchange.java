// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceStream;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.PeerLocation;
import io.grpc.Metadata;
import java.util.Optional;

/** Converts one ModelStreamInfer call. A failure is a message, or ends the stream if the client asked. */
final class StreamExchange implements InferenceStream.Exchange<InferMessage> {
    private static final Metadata.Key<String> STRICT =
            Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);

    private final InferRequests requests;
    private final Metadata headers;
    private final PeerLocation client = CallLocation.current();
    private final boolean strict;

    /** The call of the thread that makes it, with these headers. */
    StreamExchange(InferRequests requests, Metadata headers) {
        this.requests = requests;
        this.headers = headers;
        this.strict = "true".equals(headers.get(STRICT));
    }

    @Override
    public InferenceRequest request(InferMessage message) {
        return requests.request(message, headers, client, true);
    }

    @Override
    public OutboundMessage answer(InferMessage message, InferenceResponse response, boolean last) {
        return InferEncoder.encodeStreamed(response, last);
    }

    @Override
    public Optional<OutboundMessage> end(InferMessage message, InferenceRequest request) {
        ModelVersion model = request.model();
        return RequestParameters.wantsEmptyFinal(message)
                ? Optional.of(InferEncoder.encodeEmptyFinal(model.name(), model.versionText(), message.id()))
                : Optional.empty();
    }

    @Override
    public Optional<OutboundMessage> failure(InferMessage message, GatunException failure, boolean executed) {
        return strict
                ? Optional.empty()
                : Optional.of(InferEncoder.encodeError(failure.getMessage(), message, executed));
    }

    @Override
    public Optional<OutboundMessage> failureAmongOthers(InferMessage message, GatunException failure) {
        return strict
                ? Optional.empty()
                : Optional.of(InferEncoder.encodeErrorAmongOthers(failure.getMessage(), message));
    }
}
