// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.RegionControl;
import gatun.client.ServerAddress;
import gatun.client.ServerControl;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.StreamReceiver;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import gatun.client.http.HttpGatunClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A client of a server on the same machine. A request whose tensors all lie in registered regions goes through a lane:
 * memory that both processes share, without a call of the system unless somebody sleeps. All other calls go over HTTP on
 * the Unix socket. Owns the lane and the connections; a lane whose server has ended is opened anew by the next call.
 */
public final class LaneGatunClient implements GatunClient {
    private final ClientOptions options;
    private final HttpGatunClient http;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable ClientLane lane;
    private volatile long spinNanos;
    private volatile boolean closed;

    /** A client with these options, whose address is one of a lane. Opens the lane with the first call that needs it. */
    public LaneGatunClient(ClientOptions options) {
        this.options = options;
        ServerAddress server = options.server();
        ServerAddress socket = new ServerAddress(
                server.url(), ServerAddress.Protocol.HTTP, server.host(), 0, server.unixSocket(), false, "");
        this.http = new HttpGatunClient(options.withServers(List.of(socket)));
    }

    @Override
    public GatunClient spinning(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("calls spin for " + time + ": expected no less than nothing");
        }
        spinNanos = time.toNanos();
        return this;
    }

    @Override
    public InferResponse infer(InferRequest request) {
        if (!LaneRequest.fits(request)) {
            return http.infer(request);
        }
        // A call that succeeds makes no object, not even one of its deadline.
        Duration limit =
                (request.deadline().isPresent() ? request.deadline() : options.deadline()).orElse(Duration.ZERO);
        long deadlineNanos = Deadline.at(limit);
        try {
            return inferOnce(request, limit, deadlineNanos);
        } catch (ClientException e) {
            return inferAgain(request, new Deadline(deadlineNanos, limit), e);
        }
    }

    private InferResponse inferAgain(InferRequest request, Deadline deadline, ClientException failure) {
        return Attempts.makeAgain(
                options.retries(),
                deadline,
                !request.isOfSequence(),
                failure,
                () -> inferOnce(request, deadline.limit(), deadline.at()));
    }

    private InferResponse inferOnce(InferRequest request, Duration limit, long deadlineNanos) {
        ClientLane present = openLane();
        LaneRequest prepared = present.prepared(request);
        try {
            return present.infer(request, prepared, limit, deadlineNanos, spinNanos);
        } catch (ServerException e) {
            if (e.code() != StatusCode.NOT_FOUND || !prepared.prepared().isDropped()) {
                throw e;
            }
            // The server has dropped it for others since; nothing was run.
            return present.infer(request, present.prepared(request), limit, deadlineNanos, spinNanos);
        }
    }

    private ClientLane openLane() {
        ClientLane present = lane;
        if (present != null && !present.isLost()) {
            return present;
        }
        opening.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the client of " + address() + " was closed: make another one");
            }
            present = lane;
            if (present == null || present.isLost()) {
                if (present != null) {
                    present.close();
                }
                present = ClientLane.open(http.lanes(), address());
                lane = present;
            }
            return present;
        } finally {
            opening.unlock();
        }
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        if (closed) {
            throw new IllegalStateException("the client of " + address() + " was closed: make another one");
        }
        return AsyncCall.start(() -> infer(request), "gatun-client-infer");
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        return http.stream(receiver);
    }

    @Override
    public ServerControl server() {
        return http.server();
    }

    @Override
    public ModelControl models() {
        return http.models();
    }

    @Override
    public RegionControl regions() {
        return http.regions();
    }

    @Override
    public String address() {
        return options.server().url();
    }

    @Override
    public void close() {
        opening.lock();
        try {
            closed = true;
            ClientLane present = lane;
            if (present != null) {
                present.close();
            }
        } finally {
            opening.unlock();
        }
        http.close();
    }

    /** Makes these clients for their kind of address. */
    public static final class Provider implements ClientProvider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public boolean isFor(ClientOptions options) {
            return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.LANE;
        }

        @Override
        public GatunClient connect(ClientOptions options) {
            return new LaneGatunClient(options);
        }
    }
}
