// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.connection.OutboundMessage;
import gatun.memory.buffers.Sender;
import gatun.memory.tensor.GatunException;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * One call with examples, which may ask for several inferences. Its thread runs them, parked while the engine computes.
 */
final class ExampleCall extends ServerCall.Listener<ExampleMessage> {
    /** Answers a message. Thread-safe. */
    interface Responses {
        /**
         * The message of the response. Takes over the request's message.
         *
         * @throws GatunException when there is none
         * @throws StatusRuntimeException likewise, where the code is one that only gRPC knows
         */
        OutboundMessage answer(ExampleMessage message);
    }

    private final ServerCall<ExampleMessage, OutboundMessage> call;
    private final Responses responses;

    /** Between the message and the half-close; owned here. */
    private @Nullable ExampleMessage message;

    private ExampleCall(ServerCall<ExampleMessage, OutboundMessage> call, Responses responses) {
        this.call = call;
        this.responses = responses;
    }

    /** Begins a call. */
    static ServerCall.Listener<ExampleMessage> begin(
            ServerCall<ExampleMessage, OutboundMessage> call, Responses responses) {
        // One more than is right, to notice a client that sends it.
        call.request(2);
        return new ExampleCall(call, responses);
    }

    @Override
    public void onMessage(ExampleMessage next) {
        if (message != null) {
            next.close();
            message.close();
            message = null;
            call.close(
                    Status.INVALID_ARGUMENT.withDescription("a unary call has more than one request"), new Metadata());
            return;
        }
        message = next;
    }

    @Override
    public void onHalfClose() {
        ExampleMessage request = message;
        message = null;
        if (request == null) {
            call.close(Status.INVALID_ARGUMENT.withDescription("the call has no request"), new Metadata());
            return;
        }
        Sender sender = call.getAttributes().get(GrpcConnectionSelector.SENDER);
        if (sender != null) {
            request.sender = sender;
        }
        OutboundMessage response;
        try (request) {
            response = responses.answer(request);
        } catch (GatunException e) {
            call.close(Statuses.of(e), new Metadata());
            return;
        } catch (StatusRuntimeException e) {
            call.close(e.getStatus(), new Metadata());
            return;
        }
        call.sendHeaders(new Metadata());
        call.sendMessage(response);
        call.close(Status.OK, new Metadata());
    }

    @Override
    public void onCancel() {
        if (message != null) {
            message.close();
            message = null;
        }
    }
}
