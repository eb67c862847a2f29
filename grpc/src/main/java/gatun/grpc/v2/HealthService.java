package gatun.grpc.v2;

import gatun.runtime.InferenceServer;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;

/** gRPC's standard health service. Whatever service is asked for, the answer is whether the server is ready. */
public final class HealthService extends HealthGrpc.HealthImplBase {
    private final InferenceServer server;

    /** Reports on {@code server}. */
    public HealthService(InferenceServer server) {
        this.server = server;
    }

    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> answer) {
        answer.onNext(HealthCheckResponse.newBuilder()
                .setStatus(
                        server.ready()
                                ? HealthCheckResponse.ServingStatus.SERVING
                                : HealthCheckResponse.ServingStatus.NOT_SERVING)
                .build());
        answer.onCompleted();
    }
}
