// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.LifecycleSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The server as a whole. Read once. */
final class ServerFlags extends FlagGroup {
    /** The name of the server for clients. */
    final Flag<String> id;

    private final Flag<Duration> exitTimeout;
    private final Flag<Duration> drain;
    private final Flag<Optional<Path>> readyFile;

    ServerFlags(ServerSettings standard) {
        // Read before all others, by SettingSources.
        optional(
                SettingSources.CONFIG_FLAG,
                "FILE",
                FlagType.PATH,
                "Read flags from FILE, in YAML: 'http-port: 8000', or 'port: 8000' under 'http:'. Stronger are"
                        + " environment variables (GATUN_HTTP_PORT), and stronger than those flags.");
        id = flag("--id", "NAME", FlagType.TEXT, standard.id(), "How the server names itself in its metadata.");
        exitTimeout = flag(
                "--exit-timeout-secs",
                "SECONDS",
                FlagType.SECONDS,
                standard.lifecycle().exitTimeout(),
                "How long running requests may take to finish after the server is told to stop.");
        drain = flag(
                "--drain-secs",
                "SECONDS",
                FlagType.SECONDS,
                standard.lifecycle().drain(),
                "How long the server goes on serving after it is told to stop, without being ready, so that load"
                        + " balancers notice. Being told again ends it.");
        readyFile = optional(
                "--ready-file",
                "FILE",
                FlagType.PATH,
                "Write the real addresses to FILE when the server is ready, as properties; for scripts."
                        + " It names the process and its start; it is removed at stop.");
    }

    LifecycleSettings lifecycle() {
        return new LifecycleSettings(readyFile.value(), exitTimeout.value(), drain.value());
    }
}
