// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Path;

/** A server of this process's own, for requests of its own. */
public interface AskedServer extends AutoCloseable {
    /** Where it speaks HTTP: a Unix socket. */
    SocketAddress http();

    /** Where it speaks gRPC: a Unix socket. */
    SocketAddress grpc();

    /** Ends it, and gives all its memory back. */
    @Override
    void close();

    /** Starts such a server. */
    @FunctionalInterface
    interface Opener {
        /**
         * Serves the models of {@code repository}.
         *
         * @param sockets a folder for its Unix sockets, which nobody but this user can enter
         */
        AskedServer open(Path repository, Path sockets) throws IOException;
    }
}
