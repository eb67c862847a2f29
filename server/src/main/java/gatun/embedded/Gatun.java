// SPDX-License-Identifier: Apache-2.0
package gatun.embedded;

import gatun.client.GatunClient;
import gatun.memory.tensor.GatunException;
import gatun.server.EmbeddedServer;
import java.nio.file.Path;
import java.util.List;

/**
 * A server in this very process. Its client's requests cross no socket: an engine reads the memory that the caller
 * holds, where that is native memory and aligned, and the caller reads the memory that the engine wrote. They meet the
 * same schedulers as those that come over a network or in shared memory, if the flags let any come, and share batches
 * with them. Safe for any thread.
 *
 * <p>Needs the JVM's flag {@code --enable-native-access=ALL-UNNAMED} (or the modules' names) to be free of warnings.
 */
public final class Gatun implements AutoCloseable {
    private final EmbeddedServer server;

    private Gatun(EmbeddedServer server) {
        this.server = server;
    }

    /**
     * Serves the models of a repository to this process alone.
     *
     * @throws GatunException with the reason when the repository cannot be read or a model not be loaded
     */
    public static Gatun embedded(Path modelRepository) {
        return embedded(modelRepository, new String[0]);
    }

    /**
     * Serves the models of a repository to this process, and to others where the flags open a place for them.
     *
     * @param flags more flags of {@code gatun serve}, such as {@code --backend-config=...}; nothing is listened on
     *     unless they say so, as in {@code --allow-http=true --http-port=8000}. Those of the log have no effect: the
     *     log is the application's
     * @throws IllegalArgumentException for flags that {@code gatun serve} would refuse
     * @throws GatunException with the reason when the server cannot start; nothing is left open then
     */
    public static Gatun embedded(Path modelRepository, String... flags) {
        return new Gatun(EmbeddedServer.start(modelRepository, List.of(flags)));
    }

    /**
     * The client of this server, always the same one. It differs from other clients: an interrupt of the thread does
     * not end a call, closing it does nothing, and the memory of a request's inputs must stay until its call has
     * returned.
     */
    public GatunClient client() {
        return server.client();
    }

    /** The addresses at which others reach this server: URLs for {@link GatunClient#connect(String)}. */
    public List<String> addresses() {
        return server.addresses();
    }

    /** Refuses new requests, lets running ones finish, unloads the models and frees all memory. Idempotent. */
    @Override
    public void close() {
        server.close();
    }
}
