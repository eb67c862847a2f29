// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.protocol.ClientRegions;
import gatun.runtime.server.InferenceServer;

/**
 * The legacy v1 API of one server. HTTP and gRPC share one, so that ids of requests and counts go on
 * whatever the transport. Safe for any thread.
 */
public final class V1Api {
    private final RequestStatuses statuses;
    private final ServerStatuses serverStatuses;
    private final V1InferRequests requests;
    private final ModelControl modelControl;
    private final SharedMemoryControl sharedMemory;
    private final ControlCounters counters;

    /**
     * The API of {@code server}.
     *
     * @param clientMemory what clients may do with shared memory
     */
    public V1Api(InferenceServer server, ClientRegions.Rules clientMemory) {
        counters = new ControlCounters();
        statuses = new RequestStatuses(RequestStatuses.serverId(server.metadata()));
        serverStatuses = new ServerStatuses(server, counters);
        ClientRegions regions = new ClientRegions(server.regions(), clientMemory);
        requests = new V1InferRequests(server, regions);
        modelControl = new ModelControl(server);
        sharedMemory = new SharedMemoryControl(regions);
    }

    /** Makes the statuses of requests. */
    public RequestStatuses statuses() {
        return statuses;
    }

    /** Makes the statuses of the server and its models. */
    public ServerStatuses serverStatuses() {
        return serverStatuses;
    }

    /** Makes inference requests. */
    public V1InferRequests requests() {
        return requests;
    }

    /** Loads, unloads and lists models. */
    public ModelControl modelControl() {
        return modelControl;
    }

    /** Registers shared memory. */
    public SharedMemoryControl sharedMemory() {
        return sharedMemory;
    }

    /** Counts requests that are no inferences. */
    public ControlCounters counters() {
        return counters;
    }
}
