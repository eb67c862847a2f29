// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.RegionControl;
import gatun.client.ServerControl;
import gatun.client.StreamReceiver;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import gatun.client.calls.SingleServerClient;
import gatun.client.calls.TensorMemory;
import java.util.concurrent.CompletableFuture;

/** A client over HTTP/1.1, on TCP, TLS or a Unix socket. Owns its connections. */
public final class HttpGatunClient implements SingleServerClient {
    private final ClientOptions options;
    private final HttpExchanges exchanges;
    private final HttpInferRequests requests;
    private final ServerControl server;
    private final ModelControl models;
    private final RegionControl regions;
    private final LaneControl lanes;

    /** A client with these options, whose address is one of HTTP. Connects with the first call. */
    public HttpGatunClient(ClientOptions options) {
        this.options = options;
        this.exchanges = new HttpExchanges(options);
        this.requests = new HttpInferRequests(options, exchanges.heads());
        ControlCalls calls = new ControlCalls(exchanges, options);
        this.server = new HttpServerControl(calls);
        this.models = new HttpModelControl(calls);
        this.regions = new HttpRegionControl(calls);
        this.lanes = new LaneControl(options, exchanges.heads(), calls);
    }

    @Override
    public InferResponse infer(InferRequest request) {
        return infer(request, Deadline.of(request.deadline().isPresent() ? request.deadline() : options.deadline()));
    }

    @Override
    public InferResponse infer(InferRequest request, Deadline deadline) {
        exchanges.requireOpen();
        TensorMemory.requireReadable(request);
        if (requests.areEncodedOnce()) {
            return infer(request, requests.encoded(request), deadline);
        }
        try (GrowingBuffer body = requests.body(request)) {
            return infer(request, requests.around(request, body), deadline);
        }
    }

    private InferResponse infer(InferRequest request, OutgoingRequest outgoing, Deadline deadline) {
        InferResponseReader reader = new InferResponseReader(request);
        return Attempts.make(
                options.retries(),
                deadline,
                outgoing.isRepeatable(),
                () -> exchanges.exchange(outgoing, reader, deadline));
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        exchanges.requireOpen();
        return AsyncCall.start(() -> infer(request), "gatun-client-infer");
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        throw new UnsupportedOperationException("there are no streams over HTTP, which " + address()
                + " speaks: make a client of the server's gRPC address, such as grpc://HOST:8001");
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

    /** Lanes, for requests without a socket. */
    public LaneControl lanes() {
        return lanes;
    }

    @Override
    public String address() {
        return exchanges.address();
    }

    @Override
    public void close() {
        exchanges.close();
    }
}
