// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.health;

import gatun.runtime.Subscription;
import gatun.runtime.server.ServerObservation;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * gRPC's health service. The server, which the empty name asks for, and its services are SERVING when it is ready and
 * does not stop; other names are unknown to watchers, and to checks where the settings say so. Safe for any thread.
 */
public final class HealthService extends HealthGrpc.HealthImplBase {
    private static final String SERVER = "";

    private final ServerObservation server;
    private final Set<String> services;
    private final boolean anyName;
    private final Set<Runnable> stopListeners = ConcurrentHashMap.newKeySet();
    private volatile boolean stopping;

    /** Reports on {@code server} and its {@code services}; {@code anyName}: checks of all names are for the server. */
    public HealthService(ServerObservation server, Set<String> services, boolean anyName) {
        this.server = server;
        this.anyName = anyName;
        this.services = new TreeSet<>(services);
        this.services.add(HealthGrpc.SERVICE_NAME);
    }

    /** From now on nothing is SERVING. Who watches hears it, and is let go. */
    public void announceStop() {
        stopping = true;
        stopListeners.forEach(Runnable::run);
    }

    /** Calls {@code listener} after whatever may change a status, until that is closed. It must return at once. */
    Subscription onChange(Runnable listener) {
        stopListeners.add(listener);
        Subscription changes = server.onChange(listener);
        return () -> {
            changes.close();
            stopListeners.remove(listener);
        };
    }

    boolean stopping() {
        return stopping;
    }

    /** How it stands with a service; SERVICE_UNKNOWN when there is none of that name. */
    ServingStatus status(String service) {
        if (!service.equals(SERVER) && !services.contains(service)) {
            return ServingStatus.SERVICE_UNKNOWN;
        }
        return !stopping && !server.exiting() && server.ready() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    }

    /** Health of the server and each service; other names get the same, as from Triton, or NOT_FOUND. */
    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
        ServingStatus status = status(anyName ? SERVER : request.getService());
        if (status == ServingStatus.SERVICE_UNKNOWN) {
            response.onError(Status.NOT_FOUND
                    .withDescription("service name unknown; expected \"\" for the whole server, or one of "
                            + String.join(", ", services))
                    .asRuntimeException());
            return;
        }
        response.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
        response.onCompleted();
    }

    @Override
    public void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
        HealthWatch.begin(this, request.getService(), (ServerCallStreamObserver<HealthCheckResponse>) response);
    }

    /**
     * One Watch call: tells a service's health at once and when it changes, until the client cancels or the server
     * stops. Its virtual thread sleeps meanwhile. A change undone before it looks, or while nobody reads, is not told.
     */
    static final class HealthWatch {
        /** After this time at the latest, a change is told that came while the client did not read. */
        private static final long UNREAD_MILLIS = 1000;

        private final HealthService health;
        private final String service;
        private final ServerCallStreamObserver<HealthCheckResponse> client;

        /** One permit or more: something may have changed since the last look. */
        private final Semaphore changes = new Semaphore(0);

        private HealthWatch(
                HealthService health, String service, ServerCallStreamObserver<HealthCheckResponse> client) {
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
}
