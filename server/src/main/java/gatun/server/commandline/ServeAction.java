// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.LoggingSettings;
import gatun.server.settings.ServerSettings;
import java.util.List;

/** Runs with the flags of {@code gatun serve} once they are read. */
@FunctionalInterface
public interface ServeAction {
    /** Serves until told to stop. {@code warnings} are of flags without effect. Returns the exit status. */
    int serve(ServerSettings settings, LoggingSettings logging, List<String> warnings);
}
