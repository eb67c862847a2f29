// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The list of services, for the reflection service, which asks the "server" of its call. The listener starts and stops
 * itself, so these methods change nothing here.
 */
final class ServedServices extends Server {
    private final List<ServerServiceDefinition> services;

    ServedServices(List<ServerServiceDefinition> services) {
        this.services = services;
    }

    @Override
    public List<ServerServiceDefinition> getServices() {
        return services;
    }

    @Override
    public List<ServerServiceDefinition> getImmutableServices() {
        return services;
    }

    @Override
    public List<ServerServiceDefinition> getMutableServices() {
        return List.of();
    }

    @Override
    public Server start() {
        return this;
    }

    @Override
    public Server shutdown() {
        return this;
    }

    @Override
    public Server shutdownNow() {
        return this;
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return isTerminated();
    }

    @Override
    public void awaitTermination() {
        // The listener outlives every call that could ask.
    }
}
