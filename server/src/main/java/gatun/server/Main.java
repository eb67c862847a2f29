// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.isolation.ProcessIsolation;
import gatun.server.commandline.GatunCommand;
import gatun.server.text.Version;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The program. */
public final class Main {
    private Main() {}

    /** Loggers of libraries, held here since the JDK's log holds them weakly. */
    private static final class Libraries {
        /** Tells at length of connections that fail, as the commands do themselves, in one line. */
        static final Logger GRPC = Logger.getLogger("io.grpc");
    }

    /** Runs {@code gatun} with {@code arguments} and exits with its status. */
    public static void main(String[] arguments) throws IOException {
        if (ProcessIsolation.ran(arguments) || GatunCommand.answeredVersion(Version.text(), arguments)) {
            return; // System.exit looks for loggers in each jar first
        }
        SocketReaders.configure();
        if (GatunCommand.serves(arguments)) {
            GatunCommand.leaveOutConverters();
            Preparation.begin();
        } else {
            Libraries.GRPC.setLevel(Level.OFF);
        }
        Serving serving = new Serving(System.nanoTime());
        System.exit(GatunCommand.run(
                Version.text(), serving::run, EmbeddedServer::ownedClient, System.getenv(), arguments));
    }
}
