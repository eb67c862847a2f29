// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.discovery.BackendDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/**
 * The engines that this process can be.
 *
 * @param directory those of the operator, which hide others of their names
 */
record Backends(BackendDirectory directory) {
    /** Those that come with the server. */
    static Backends installed() {
        return new Backends(BackendDirectory.none());
    }

    /** Those, and the operator's own in {@code folder}. */
    static Backends withFolder(Path folder) {
        return new Backends(BackendDirectory.open(folder));
    }

    /** @throws GatunException UNAVAILABLE when there is none of that name */
    Backend named(String name) {
        List<Backend> own = directory.backends().stream()
                .filter(backend -> backend.name().equals(name))
                .toList();
        if (!own.isEmpty()) {
            return own.getLast();
        }
        return ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(backend -> backend.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new GatunException(
                        ErrorCode.UNAVAILABLE, "backend '" + name + "' is not part of the server's class path"));
    }
}
