// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.logging.LogSettings;
import gatun.server.settings.ServerSettings;
import java.util.List;

/** Runs with the flags of {@code gatun serve} once they are read. */
@FunctionalInterface
public interface ServeAction {
    /**
     * Serves until told to stop.
     *
     * @param settings the settings that the flags give
     * @param log the settings of the log
     * @param warnings warnings for the operator about flags without effect
     * @return the exit status
     */
    int serve(ServerSettings settings, LogSettings log, List<String> warnings);
}
