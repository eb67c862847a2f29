// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.LifecycleSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** The server as a whole. Read once. */
final class ServerFlags extends OverlayFlags<ServerSettings> {
    /** The system property by which the launcher tells the profile whose flags it gave to the JVM. */
    private static final String JVM_PROFILE = "gatun.profile";

    private static final FlagType<String> PROFILE = FlagType.choice(
            "PROFILE", "a profile: balanced or small", Map.of("balanced", "balanced", "small", "small"));

    /** Read before all others, by {@link SettingSources}. */
    final Flag<Optional<Path>> configuration = optional(
            SettingSources.CONFIG_FLAG,
            FlagType.PATH,
            "Read flags from FILE, in YAML: 'http-port: 8000', or 'port: 8000' under 'http:'. Stronger are"
                    + " environment variables (GATUN_HTTP_PORT), and stronger than those flags.");

    final Flag<String> id = flag("--id", FlagType.TEXT, standard.id(), "How the server names itself in its metadata.");

    private final Flag<Optional<String>> profile = optional(
            "--profile",
            PROFILE,
            "What the JVM is started for: balanced, for requests that cost little processor time, or small, for little"
                    + " memory (default: balanced). The launcher takes it from the command line or the environment;"
                    + " files of settings or arguments are read too late for it.");
    private final Flag<Duration> exitTimeout = flag(
            "--exit-timeout-secs",
            FlagType.SECONDS,
            standard.lifecycle().exitTimeout(),
            "How long running requests may take to finish after the server is told to stop.");
    private final Flag<Duration> drain = flag(
            "--drain-secs",
            FlagType.SECONDS,
            standard.lifecycle().drain(),
            "How long the server goes on serving after it is told to stop, without being ready, so that load"
                    + " balancers notice. Being told again ends it.");
    private final Flag<Duration> warmUp = flag(
            "--start-warm-up-secs",
            FlagType.SECONDS,
            standard.lifecycle().warmUp(),
            "How long the server may ask a server of its own, with models of its own, before it is ready, so that its"
                    + " code is compiled when the first requests come. It ends earlier when nothing is left to compile;"
                    + " 0 for not at all.");
    private final Flag<Optional<Path>> readyFile = optional(
            "--ready-file",
            FlagType.PATH,
            "Write the real addresses to FILE when the server is ready, as properties; for scripts."
                    + " It names the process and its start; it is removed at stop.");

    ServerFlags(ServerSettings standard) {
        super(standard);
    }

    /** Throws {@link FlagException} when the JVM was started with another profile: its flags are final. */
    void requireProfile() {
        Optional<String> started = Optional.ofNullable(System.getProperty(JVM_PROFILE));
        if (profile.value().isEmpty() || profile.value().equals(started)) {
            return;
        }
        throw new FlagException(profile.name() + " is '" + profile.value().get() + "', "
                + started.map(name -> "but the JVM was started as '" + name
                                + "': the launcher looks for it on its command line, by its whole name, and in"
                                + " GATUN_PROFILE. Write it there.")
                        .orElse("but the JVM was not started by Gatun's launcher, which turns a profile into"
                                + " flags of the JVM. Leave it out, and give those flags yourself."));
    }

    LifecycleSettings lifecycle() {
        return new LifecycleSettings(readyFile.value(), exitTimeout.value(), drain.value(), warmUp.value());
    }
}
