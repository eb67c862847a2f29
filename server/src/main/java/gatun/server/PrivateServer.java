// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Kind;
import gatun.runtime.ModelSettings;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.server.settings.ClientSettings;
import gatun.server.settings.ClientSettings.AccessSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.LifecycleSettings;
import gatun.server.settings.ServerSettings.MemorySettings;
import gatun.server.settings.TracingSettings;
import gatun.server.warmup.WarmUp.AskedServer;
import gatun.stores.mirror.FetchProgress;
import gatun.stores.mirror.FetchWatch;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A second server within this process, on Unix sockets, with models, memory, statistics and limits of its own. */
final class PrivateServer implements AskedServer {
    private static final long POOL_BYTES = 64L << 20;

    /** Its clients have left when it closes. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final ResourceStack resources;
    private final SocketAddress http;
    private final SocketAddress grpc;

    private PrivateServer(ResourceStack resources, SocketAddress http, SocketAddress grpc) {
        this.resources = resources;
        this.http = http;
        this.grpc = grpc;
    }

    /** Starts a server whose protocols are those of {@code first}. */
    static PrivateServer start(ServerSettings first, Path repository, Path sockets) {
        UnixDomainSocketAddress http = UnixDomainSocketAddress.of(sockets.resolve("http"));
        UnixDomainSocketAddress grpc = UnixDomainSocketAddress.of(sockets.resolve("grpc"));
        ResourceStack resources = new ResourceStack();
        try {
            BufferPool buffers = resources.add(BufferPool.withReserve(POOL_BYTES, ""));
            SharedRegions regions = resources.add(SharedRegions.open(buffers));
            GatunServer inference = resources.add(GatunServer.open(options(first, repository, buffers, regions)));
            ProtocolListeners listeners = new ProtocolListeners(
                    settings(first), List.of(new Endpoint(Kind.HTTP, http), new Endpoint(Kind.GRPC, grpc)));
            listeners.prepare(inference, new FetchWatch(FetchProgress.NONE), resources);
            listeners.listen();
            return new PrivateServer(resources, http, grpc);
        } catch (RuntimeException | Error e) {
            try {
                resources.close();
            } catch (RuntimeException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    private static ServerOptions options(
            ServerSettings first, Path repository, BufferPool buffers, SharedRegions regions) {
        ServerOptions options = ServerOptions.of(buffers, regions)
                .repository(repository)
                .models(ModelSettings.STANDARD
                        .with(ModelSettings.STANDARD.loading().withConfigurations("", false, false))
                        .withoutLog())
                .exitTimeout(GRACE);
        first.models()
                .backends()
                .options()
                .forEach((backend, values) ->
                        values.forEach((name, value) -> options.backendOption(backend, name, value)));
        return options;
    }

    private static ServerSettings settings(ServerSettings first) {
        return new ServerSettings(
                first.id(),
                new LifecycleSettings(Optional.empty(), GRACE, Duration.ZERO, Duration.ZERO),
                first.models(),
                MemorySettings.STANDARD,
                first.listeners().plain(),
                new ClientSettings(AccessSettings.OPEN, first.clients().limits(), ConnectionLimits.OPERATORS, Set.of()),
                TracingSettings.OFF);
    }

    @Override
    public SocketAddress http() {
        return http;
    }

    @Override
    public SocketAddress grpc() {
        return grpc;
    }

    @Override
    public void close() {
        resources.close();
    }
}
