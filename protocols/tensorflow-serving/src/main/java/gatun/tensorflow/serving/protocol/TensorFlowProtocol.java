// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.protocol;

import gatun.grpc.GrpcService;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.InferenceServer;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.grpc.TensorFlowServices;
import gatun.tensorflow.serving.http.TensorFlowRoutes;
import java.util.List;

/** TensorFlow Serving's protocol, over REST and gRPC. */
public final class TensorFlowProtocol implements Protocol {
    private final TensorFlowRoutes routes;
    private final List<GrpcService> services;

    /** The protocol in front of {@code server}. */
    public TensorFlowProtocol(InferenceServer server, ProtocolSettings common, TensorFlowSettings settings) {
        this.routes = new TensorFlowRoutes(server, common.maxInputByteSize(), common.http(), settings);
        GrpcService prediction = TensorFlowServices.prediction(server, settings);
        GrpcService models = TensorFlowServices.models(server, settings);
        this.services = settings.profiler()
                ? List.of(prediction, models, TensorFlowServices.profiler(server))
                : List.of(prediction, models);
    }

    @Override
    public RouteTable table() {
        return routes.table();
    }

    @Override
    public Routes http() {
        return routes;
    }

    @Override
    public List<GrpcService> grpc() {
        return services;
    }
}
