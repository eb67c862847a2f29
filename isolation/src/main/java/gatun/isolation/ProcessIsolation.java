// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.engine.EngineMain;
import gatun.memory.buffers.SharedFile;
import gatun.spi.Backend;
import gatun.spi.Isolation;
import gatun.workers.WorkerWatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/** Makes engines that run their models in processes. Owns what watches over those. Safe for any thread. */
public final class ProcessIsolation implements Isolation, AutoCloseable {
    private final Optional<Path> backendDirectory;
    private final Optional<SharedFile> serverMemory;
    private final WorkerWatch watch = new WorkerWatch();

    /**
     * @param backendDirectory the folder of custom backends, for engines that are there
     * @param serverMemory the file that inputs of requests lie in, so that processes read them there; empty where it is
     *     none, and inputs are copied
     */
    public ProcessIsolation(Optional<Path> backendDirectory, Optional<SharedFile> serverMemory) {
        this.backendDirectory = backendDirectory;
        this.serverMemory = serverMemory;
    }

    /**
     * Whether the server's program was started to be the process of an engine; when this is true it was, and its end has
     * come.
     *
     * @throws IOException when it was, and was not started by a server
     */
    public static boolean ran(String... arguments) throws IOException {
        if (arguments.length == 0 || !arguments[0].equals(EngineCommand.PROGRAM)) {
            return false;
        }
        EngineMain.main(Arrays.copyOfRange(arguments, 1, arguments.length));
        return true;
    }

    @Override
    public Backend isolate(String backend) {
        return new IsolatedBackend(backend, backendDirectory, serverMemory, watch);
    }

    /** Looks at no process any more. For when all engines are closed. */
    @Override
    public void close() {
        watch.close();
    }
}
