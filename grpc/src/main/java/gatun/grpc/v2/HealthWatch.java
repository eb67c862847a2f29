package gatun.grpc.v2;

import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;

/**
 * One Watch call: tells a client how it stands with a service, at once and whenever that has changed, until the client cancels or the server
 * stops. A virtual thread of its own looks again and again: readiness follows from the states of all models, and has no event. What
 * changes back between two looks, or while the client does not read, is not told.
 */
final class HealthWatch {
    private static final Duration INTERVAL = Duration.ofMillis(100);

    private final HealthService health;
    private final String service;
    private final ServerCallStreamObserver<HealthCheckResponse> client;

    private HealthWatch(HealthService health, String service, ServerCallStreamObserver<HealthCheckResponse> client) {
        this.health = health;
        this.service = service;
        this.client = client;
    }

    /** Begins a call; its first answer is on its way when this returns. */
    static void begin(HealthService health, String service, ServerCallStreamObserver<HealthCheckResponse> client) {
        // With a handler of its own a cancelled call takes answers and drops them, instead of throwing.
        client.setOnCancelHandler(() -> {});
        HealthWatch watch = new HealthWatch(health, service, client);
        ServingStatus first = watch.tell();
        Thread.ofVirtual().name("health-watch").start(() -> watch.follow(first));
    }

    private ServingStatus tell() {
        ServingStatus status = health.status(service);
        client.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
        return status;
    }

    private void follow(ServingStatus first) {
        ServingStatus told = first;
        try {
            while (!client.isCancelled()) {
                boolean last = health.stopping();
                if (health.status(service) != told && (client.isReady() || last)) {
                    told = tell();
                }
                if (last) {
                    client.onError(Status.UNAVAILABLE
                            .withDescription("the server is stopping")
                            .asRuntimeException());
                    return;
                }
                Thread.sleep(INTERVAL);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
