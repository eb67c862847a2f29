// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.isolation.ProcessIsolation;
import gatun.server.commandline.GatunCommand;
import gatun.server.text.Version;
import java.io.IOException;

/** The program. */
public final class Main {
    private Main() {}

    /** Runs {@code gatun} with {@code arguments} and exits with its status. */
    public static void main(String[] arguments) throws IOException {
        if (ProcessIsolation.ran(arguments) || GatunCommand.answeredVersion(Version.text(), arguments)) {
            return; // System.exit looks for loggers in each jar first
        }
        SocketReaders.configure();
        if (GatunCommand.serves(arguments)) {
            GatunCommand.leaveOutConverters();
            Preparation.begin();
        }
        Serving serving = new Serving(System.nanoTime());
        System.exit(GatunCommand.run(
                Version.text(), serving::run, EmbeddedServer::ownedClient, System.getenv(), arguments));
    }
}
