// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientOptions;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.RegionControl;
import gatun.client.ServerControl;
import gatun.client.StreamReceiver;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Deadline;
import gatun.client.calls.SingleServerClient;
import java.util.concurrent.CompletableFuture;

/** The client over gRPC. */
public final class GrpcGatunClient implements SingleServerClient {
    private final ClientOptions options;
    private final GrpcChannel channel;
    private final UnaryCalls calls;
    private final ServerControl server;
    private final ModelControl models;
    private final RegionControl regions;

    /** A client with these options. Connects with the first call. */
    public GrpcGatunClient(ClientOptions options) {
        this.options = options;
        this.channel = GrpcChannel.open(options);
        this.calls = new UnaryCalls(channel.channel(), options);
        this.server = new GrpcServerControl(calls);
        this.models = new GrpcModelControl(calls);
        this.regions = new GrpcRegionControl(calls);
    }

    @Override
    public InferResponse infer(InferRequest request) {
        return infer(request, Deadline.of(request.deadline().isPresent() ? request.deadline() : options.deadline()));
    }

    @Override
    public InferResponse infer(InferRequest request, Deadline deadline) {
        InferMessage message = InferMessage.of(request);
        try (InferResponseMessage response = calls.call(
                message.isOfOneThread() ? InferMethods.INFER_WHEN_CONNECTED : InferMethods.INFER,
                message,
                deadline,
                !request.isOfSequence(),
                () -> "an inference of model '" + request.model() + "'")) {
            return response.toResponse(message.head(response.head(), response.headSize()), message::wantsInRegion);
        }
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        calls.requireOpen();
        return AsyncCall.start(() -> infer(request), "gatun-infer");
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        calls.requireOpen();
        return GrpcInferStream.open(channel.channel(), receiver, address());
    }

    @Override
    public ServerControl server() {
        return server;
    }

    @Override
    public ModelControl models() {
        return models;
    }

    @Override
    public RegionControl regions() {
        return regions;
    }

    @Override
    public String address() {
        return options.server().toString();
    }

    @Override
    public void close() {
        calls.close();
        channel.close();
    }

    @Override
    public String toString() {
        return "client of " + address();
    }
}
