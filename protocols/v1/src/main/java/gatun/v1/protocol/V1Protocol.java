// SPDX-License-Identifier: Apache-2.0
package gatun.v1.protocol;

import gatun.grpc.GrpcService;
import gatun.http.routes.RouteTable;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.InferenceServer;
import gatun.v1.V1Api;
import gatun.v1.grpc.V1Services;
import gatun.v1.http.V1Routes;
import java.util.List;

/** The API that Triton had before version 2, over HTTP and gRPC; both share its counters. */
public final class V1Protocol implements Protocol {
    private final RouteTable table;
    private final List<GrpcService> services;

    /** The protocol in front of {@code server}. */
    public V1Protocol(InferenceServer server, ProtocolSettings settings) {
        V1Api api = new V1Api(server, settings.clientMemory());
        this.table = V1Routes.to(server, api, settings.http().access());
        this.services = List.of(V1Services.of(server, api));
    }

    @Override
    public RouteTable table() {
        return table;
    }

    @Override
    public List<GrpcService> grpc() {
        return services;
    }
}
