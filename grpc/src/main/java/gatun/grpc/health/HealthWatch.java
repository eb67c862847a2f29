// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.health;

import gatun.runtime.Subscription;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * One Watch call: tells a client how it stands with a service, at once and whenever that has changed, until the client
 * cancels or the server stops. A virtual thread of its own sleeps until something may have changed. A change that is
 * undone before the watch looks, or while the client does not read, is not reported.
 */
final class HealthWatch {
    /**
     * A change that came while the client did not read is told when it reads again, and at the latest after this time.
     */
    private static final long UNREAD_MILLIS = 1000;

    private final HealthService health;
    private final String service;
    private final ServerCallStreamObserver<HealthCheckResponse> client;

    /** One permit or more: something may have changed since the last look. */
    private final Semaphore changes = new Semaphore(0);

    private HealthWatch(HealthService health, String service, ServerCallStreamObserver<HealthCheckResponse> client) {
        this.health = health;
        this.service = service;
        this.client = client;
    }

    /** Begins a call; its first response is on its way when this returns. */
    static void begin(HealthService health, String service, ServerCallStreamObserver<HealthCheckResponse> client) {
        HealthWatch watch = new HealthWatch(health, service, client);
        // With a handler of its own a cancelled call takes responses and drops them, instead of throwing.
        client.setOnCancelHandler(watch.changes::release);
        client.setOnReadyHandler(watch.changes::release);
        Subscription subscription = health.onChange(watch.changes::release);
        ServingStatus first = watch.tell();
        // Of a stop before the subscription nobody tells.
        watch.changes.release();
        Thread.ofVirtual().name("health-watch").start(() -> watch.follow(first, subscription));
    }

    private ServingStatus tell() {
        ServingStatus status = health.status(service);
        client.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
        return status;
    }

    private void follow(ServingStatus first, Subscription subscription) {
        try (subscription) {
            ServingStatus told = first;
            while (!client.isCancelled()) {
                boolean last = health.stopping();
                boolean changed = health.status(service) != told;
                if (changed && (client.isReady() || last)) {
                    told = tell();
                    changed = false;
                }
                if (last) {
                    client.onError(Status.UNAVAILABLE
                            .withDescription("the server is stopping")
                            .asRuntimeException());
                    return;
                }
                await(changed);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await(boolean untold) throws InterruptedException {
        if (untold) {
            changes.tryAcquire(UNREAD_MILLIS, TimeUnit.MILLISECONDS);
        } else {
            changes.acquire();
        }
        changes.drainPermits();
    }
}
