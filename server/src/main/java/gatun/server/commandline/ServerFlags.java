// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The server as a whole. Filled by picocli, read once. */
final class ServerFlags {
    /** Read before all others, by {@link SettingSources}. */
    @Option(
            names = SettingSources.CONFIG_FLAG,
            paramLabel = "FILE",
            description =
                    "Read flags from FILE, in YAML: 'http-port: 8000', or 'port: 8000' under 'http:'. Stronger are"
                            + " environment variables (GATUN_HTTP_PORT), and stronger than those flags.")
    Optional<Path> configuration = Optional.empty();

    @Option(
            names = "--id",
            paramLabel = "NAME",
            defaultValue = "triton",
            description = "How the server names itself in its metadata.")
    String id = "";

    @Option(
            names = "--exit-timeout-secs",
            paramLabel = "SECONDS",
            defaultValue = "30",
            converter = FlagValues.Seconds.class,
            description = "How long running requests may take to finish after the server is told to stop.")
    int exitTimeoutSeconds;

    @Option(
            names = "--drain-secs",
            paramLabel = "SECONDS",
            defaultValue = "0",
            converter = FlagValues.Seconds.class,
            description =
                    "How long the server goes on serving after it is told to stop, without being ready, so that load"
                            + " balancers notice. Being told again ends it.")
    int drainSeconds;

    @Option(
            names = "--ready-file",
            paramLabel = "FILE",
            description = "Write the real addresses to FILE when the server is ready, as properties; for scripts."
                    + " It names the process and its start; it is removed at stop.")
    Optional<Path> readyFile = Optional.empty();
}
