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

    /** With a folder of custom backends, and the file where processes read inputs, which are copied without one. */
    public ProcessIsolation(Optional<Path> backendDirectory, Optional<SharedFile> serverMemory) {
        this.backendDirectory = backendDirectory;
        this.serverMemory = serverMemory;
    }

    /** Runs an engine to its end; false for arguments of others. Throws {@link IOException} if no server started it. */
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
