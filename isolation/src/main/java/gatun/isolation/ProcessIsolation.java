// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.memory.buffers.SharedFile;
import gatun.runtime.Isolation;
import gatun.spi.Backend;
import gatun.workers.WorkerWatch;
import java.nio.file.Path;
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
