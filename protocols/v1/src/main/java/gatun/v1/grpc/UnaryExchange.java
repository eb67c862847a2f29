// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceCall;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.Origin;
import io.grpc.Metadata;
import java.util.Optional;

/** Converts the messages and responses of Infer calls. Safe for any thread. */
final class UnaryExchange implements InferenceCall.Exchange<V1InferMessage> {
    private static final Origin ORIGIN = new Origin(201, "v1", "grpc");

    private final Inferences inferences;

    UnaryExchange(Inferences inferences) {
        this.inferences = inferences;
    }

    @Override
    public InferenceRequest request(V1InferMessage message, Metadata headers) {
        return inferences.request(message, headers, CallLocation.current(), ORIGIN);
    }

    @Override
    public OutboundMessage answer(V1InferMessage message, InferenceResponse response) {
        return inferences.answer(message, response);
    }

    @Override
    public Optional<OutboundMessage> failureMessage(V1InferMessage message, GatunException failure) {
        return Optional.of(inferences.failure(message, failure));
    }
}
