// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.client.GatunClient;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.server.commandline.GatunCommand;
import gatun.server.embedded.EmbeddedClient;
import gatun.server.logging.Log;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.server.text.Version;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server as a part of an application. Owns it and its client. Safe for any thread. */
public final class EmbeddedServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServer.class);

    /** The flags that apply unless the application sets others: the server listens for nobody else. */
    private static final List<String> NO_LISTENERS =
            List.of("--allow-http=false", "--allow-grpc=false", "--allow-metrics=false");

    private final Server server;
    private final EmbeddedClient client;
    private final AtomicBoolean closed = new AtomicBoolean();

    private EmbeddedServer(Server server, boolean endsWithItsClient) {
        this.server = server;
        this.client = new EmbeddedClient(server.inference(), endsWithItsClient ? this::close : () -> {});
    }

    /**
     * Starts a server for a command of this program, and returns its client. The server ends when the client is closed,
     * and logs only warnings and errors.
     *
     * @throws GatunException with the reason when it cannot start
     */
    public static GatunClient ownedClient(Path modelRepository) {
        Log.install(LogSettings.standard().withInfo(false));
        return start(modelRepository, List.of(), true).client();
    }

    /**
     * Starts a server with the flags of {@code gatun serve}.
     *
     * @throws IllegalArgumentException for wrong flags
     * @throws GatunException with the reason when it cannot start
     */
    public static EmbeddedServer start(Path modelRepository, List<String> flags) {
        return start(modelRepository, flags, false);
    }

    private static EmbeddedServer start(Path modelRepository, List<String> flags, boolean endsWithItsClient) {
        List<String> arguments = new ArrayList<>(NO_LISTENERS);
        arguments.add("--model-repository=" + modelRepository);
        arguments.addAll(flags);
        List<ServerSettings> settings = new ArrayList<>(1);
        GatunCommand.serveSettings(Version.text(), arguments, (read, log, warnings) -> {
            warnings.forEach(LOG::warn);
            settings.add(read);
            return 0;
        });
        try {
            return new EmbeddedServer(
                    Server.start(settings.getFirst(), LogControl.fixed(), StartReport.none()), endsWithItsClient);
        } catch (StartException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, e.getMessage(), e);
        }
    }

    /** The client of this server. */
    public GatunClient client() {
        return client;
    }

    /** The addresses at which others reach this server. */
    public List<String> addresses() {
        return server.endpoints().stream()
                .filter(endpoint -> endpoint.protocol() != Endpoint.Protocol.METRICS)
                .map(Endpoint::clientUrl)
                .toList();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            client.end();
            server.close();
        }
    }
}
