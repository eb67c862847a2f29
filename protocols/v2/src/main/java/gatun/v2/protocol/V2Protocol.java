// SPDX-License-Identifier: Apache-2.0
package gatun.v2.protocol;

import gatun.grpc.GrpcService;
import gatun.grpc.ResponseCompression;
import gatun.http.routes.RouteTable;
import gatun.protocol.ClientRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.protocol.ServerSurroundings.Lane;
import gatun.runtime.server.InferenceServer;
import gatun.v2.grpc.V2Services;
import gatun.v2.http.V2Routes;
import gatun.v2.lane.LaneSettings;
import gatun.v2.lane.Lanes;
import java.util.List;

/** Triton's protocol, version 2, or Open Inference Protocol. Closed before the listeners. */
public final class V2Protocol implements Protocol {
    private final Lanes lanes;
    private final RouteTable table;
    private final List<GrpcService> services;

    /** The protocol in front of {@code server}, without compression of responses. */
    public V2Protocol(InferenceServer server, ProtocolSettings settings) {
        this(server, settings, ResponseCompression.NONE, LaneSettings.STANDARD);
    }

    /** The protocol in front of {@code server}; {@code compression} is that of responses of inferences over gRPC. */
    public V2Protocol(
            InferenceServer server,
            ProtocolSettings settings,
            ResponseCompression compression,
            LaneSettings laneSettings) {
        this.lanes = new Lanes(server, laneSettings);
        ClientRegions regions = new ClientRegions(server.regions(), settings.clientMemory());
        this.table = V2Routes.to(server, settings, regions, lanes);
        this.services = List.of(V2Services.of(server, regions, settings.grpc().forwarding(), compression));
    }

    @Override
    public List<Lane> lanes() {
        return lanes.uses().stream()
                .map(lane -> new Lane(lane.number(), lane.owner(), lane.byteSize(), lane.slots(), lane.inFlight()))
                .toList();
    }

    @Override
    public RouteTable table() {
        return table;
    }

    @Override
    public List<GrpcService> grpc() {
        return services;
    }

    /** Waits for the requests of lanes, and ends the threads that serve them; everything else the listeners end. */
    @Override
    public void close() {
        lanes.close();
    }
}
