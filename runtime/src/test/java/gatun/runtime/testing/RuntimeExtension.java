// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.testing;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The runtime without a listener in front of it, with a pool and clients' memory, for the tests of engines and of what lies
 * above the runtime. After each test the server is closed, and nothing may be left in the pool.
 */
public final class RuntimeExtension implements AfterEachCallback {
    private final BufferPool pool;
    private final SharedRegions regions;
    private final List<Runnable> checks;
    private Optional<GatunServer> server = Optional.empty();

    /**
     * A runtime that serves nothing yet.
     *
     * @param checks what must hold besides once the server is closed
     */
    public RuntimeExtension(long poolBytes, Runnable... checks) {
        this.pool = new BufferPool(poolBytes);
        this.regions = SharedRegions.open(pool);
        this.checks = List.of(checks);
    }

    /** The pool of the server. */
    public BufferPool pool() {
        return pool;
    }

    /** The memory of clients. */
    public SharedRegions regions() {
        return regions;
    }

    /** Serves the models of a repository. */
    public GatunServer serve(Path repository) {
        return serve(options -> options.repository(repository));
    }

    /** Serves what these options say. */
    public GatunServer serve(UnaryOperator<ServerOptions> options) {
        GatunServer opened = GatunServer.open(options.apply(ServerOptions.of(pool, regions)));
        server = Optional.of(opened);
        return opened;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        server.ifPresent(GatunServer::close);
        regions.close();
        checks.forEach(Runnable::run);
        assertThat(pool.usedBytes()).as("bytes of the pool in use").isZero();
        pool.close();
    }
}
