// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.client.GatunClient;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Transport;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.server.commandline.GatunCommand;
import gatun.server.embedded.EmbeddedClient;
import gatun.server.logging.Log;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.server.warmup.StopWait;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server as a part of an application. Owns it and its client. Safe for any thread. */
public final class EmbeddedServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServer.class);

    private final Server server;
    private final EmbeddedClient client;
    private final AtomicBoolean closed = new AtomicBoolean();

    private EmbeddedServer(ServerSettings settings, boolean endsWithItsClient) {
        try {
            server = Server.start(settings, LogControl.fixed(), AccessLog.OFF, StartReport.none(), StopWait.NEVER);
        } catch (StartException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, e.getMessage(), e);
        }
        client = new EmbeddedClient(server.inference(), endsWithItsClient ? this::close : () -> {});
    }

    /**
     * Starts a server for a command of this program, and returns its client. The server ends when the client is closed,
     * and logs only warnings and errors.
     *
     * @throws GatunException with the reason when it cannot start
     */
    public static GatunClient ownedClient(Path modelRepository) {
        Log.install(LogSettings.standard().withInfo(false));
        return new EmbeddedServer(ServerSettings.embedded(modelRepository), true).client;
    }

    /**
     * With the flags of {@code gatun serve}. Throws {@link IllegalArgumentException} for wrong flags, {@link
     * GatunException} with the reason when the server cannot start.
     */
    public static EmbeddedServer start(Path modelRepository, List<String> flags) {
        ServerSettings settings = ServerSettings.embedded(modelRepository);
        return new EmbeddedServer(GatunCommand.overlay(settings, flags, LOG::warn), false);
    }

    /** The client of this server. */
    public GatunClient client() {
        return client;
    }

    /** The addresses at which others reach this server. */
    public List<String> addresses() {
        return server.endpoints().stream()
                .filter(endpoint -> endpoint.kind().audience() == Audience.CLIENTS)
                .map(EmbeddedServer::clientUrl)
                .toList();
    }

    private static String clientUrl(Endpoint endpoint) {
        if (endpoint.kind().transport() == Transport.HTTP) {
            return endpoint.url();
        }
        return (endpoint.port().isPresent() ? "grpc://" : "grpc+") + endpoint.url();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            client.end();
            server.close();
        }
    }
}
