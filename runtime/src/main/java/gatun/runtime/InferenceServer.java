package gatun.runtime;

import gatun.memory.BufferPool;
import gatun.memory.RegionRegistry;
import java.util.List;

/** The server without its sockets: what every edge calls. Safe for any thread. */
public interface InferenceServer extends AutoCloseable {
    /** What the server says of itself. */
    ServerMetadata metadata();

    /** Whether the process can answer at all. */
    boolean live();

    /** Whether every model version that should be served is. */
    boolean ready();

    /**
     * The version of a model that is to answer a request.
     *
     * @param name the model's name
     * @param version the version in decimal as the client wrote it; empty for the highest that is ready
     * @throws gatun.memory.GatunException NOT_FOUND, UNAVAILABLE or INVALID_ARGUMENT with the protocol's text
     */
    ModelVersion model(String name, String version);

    /** Every model version that the repository holds, by name and version. */
    List<ModelStatus> index();

    /** The counters of every ready version, by name and version. */
    List<ModelStatistics> statistics();

    /**
     * Answers one request; parks the calling thread, which should be virtual, until the answer is there. Owns the
     * request from the first moment and closes it on every path. The caller owns the response.
     *
     * @throws gatun.memory.GatunException when the request is wrong, refused or failed
     */
    InferenceResponse infer(InferenceRequest request);

    /** The shared-memory regions that clients registered. */
    RegionRegistry regions();

    /** The pool that request and response tensors are lent from. */
    BufferPool buffers();

    /** Refuses new requests, waits for running ones and unloads all models. */
    @Override
    void close();
}
