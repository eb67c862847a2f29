// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Tensor;
import java.time.Duration;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;

/**
 * A server of the Open Inference Protocol, as a client sees it. Connections are opened as needed and used again. Safe
 * for any thread; {@link #close} ends calls that are still running. A call fails with
 *
 * <ul>
 *   <li>{@link ServerException}, {@link UnreachableException}, {@link DeadlineException} or
 *   {@link MalformedResponseException} for an error of the server or the connection,
 *   <li>{@link IllegalArgumentException} for a request that no server could answer,
 *   <li>{@link IllegalStateException} for a client that is closed, or memory that was freed.
 * </ul>
 *
 * <p>A thread that is interrupted gives its call up with an {@link UnreachableException}, and stays interrupted.
 */
public interface GatunClient extends AutoCloseable {
    /** A client of the server at {@code url} (see {@link ServerAddress#parse}). Connects with the first call. */
    static GatunClient connect(String url) {
        return connect(ClientOptions.of(url));
    }

    /**
     * A client with these options. Connects with the first call.
     *
     * <p>With {@linkplain ClientOptions#withServers several servers}, a server that cannot be reached, or refuses three
     * requests in a row since it has no room or is not ready, gets no more until it says that it is ready. A request that
     * failed and may be {@linkplain Retries made again} goes to another server at once. The requests of one
     * {@link #sequence} all go to one server. What is asked about models is asked of one server, while loading and
     * unloading is done on each. Regions of shared memory are a matter of one machine: they need a client of one server.
     */
    static GatunClient connect(ClientOptions options) {
        return ServiceLoader.load(ClientProvider.class, ClientProvider.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.isFor(options))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no provider of clients for " + options.servers()
                        + ": expected META-INF/services/" + ClientProvider.class.getName() + " to name one"))
                .connect(options);
    }

    /** Asks {@code model} for all its outputs and waits for the response, which the caller closes. */
    default InferResponse infer(String model, Tensor... inputs) {
        return infer(InferRequest.of(model, inputs));
    }

    /** Makes one inference and waits for the response, which the caller closes. */
    InferResponse infer(InferRequest request);

    /**
     * Makes one inference on a virtual thread. Who takes the response closes it. Cancelling the future gives the call
     * up; the memory of the request's tensors is free again when {@link InferRequest}'s user sees the future done.
     */
    CompletableFuture<InferResponse> inferAsync(InferRequest request);

    /** Asks {@code model} for all its outputs on a virtual thread: see {@link #inferAsync(InferRequest)}. */
    default CompletableFuture<InferResponse> inferAsync(String model, Tensor... inputs) {
        return inferAsync(InferRequest.of(model, inputs));
    }

    /**
     * Opens a stream; decoupled models answer only there.
     *
     * @throws UnsupportedOperationException over HTTP, which has none
     */
    InferStream stream(StreamReceiver receiver);

    /**
     * Has calls look for their response for that long before they sleep, which takes a core meanwhile and saves the time
     * to be woken. Zero, the standard, sleeps at once.
     *
     * @return this client
     * @throws UnsupportedOperationException over anything but a lane
     */
    default GatunClient spinning(Duration time) {
        throw new UnsupportedOperationException("calls to " + address()
                + " wait for a socket: make a client of the server's lanes, such as lane:/PATH, to spin for " + time);
    }

    /** Begins a sequence of requests to {@code model} under a new number. */
    default InferSequence sequence(String model) {
        return new InferSequence(this, model);
    }

    /** The server's metadata. */
    ServerControl server();

    /** The server's models. */
    ModelControl models();

    /** The shared memory that clients registered. */
    RegionControl regions();

    /** Where the server is, for texts. */
    String address();

    /** Closes all connections; calls that are running fail. A second call does nothing. */
    @Override
    void close();
}
