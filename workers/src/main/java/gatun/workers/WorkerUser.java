// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.bindings.Posix;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The user of a model's processes where not the server's own, by {@code isolation_user}. The home need not exist. */
public record WorkerUser(String name, long uid, long gid, String home) {
    private static final String PARAMETER = "isolation_user";

    /** How long the system's list of users may take to answer, which may lie on another machine. */
    private static final int ASKING_SECONDS = 60;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.@-]{0,255}");

    /** A line of the system's list of users, as {@code passwd(5)} describes it. */
    private static final Pattern ENTRY = Pattern.compile("([^:]+):[^:]*:([0-9]{1,10}):([0-9]{1,10}):[^:]*:([^:]*):.*");

    /** The user of {@code config}; empty for the server's. Throws {@link ConfigurationException} when it cannot be. */
    static Optional<WorkerUser> of(ModelConfig config) {
        return of(config, Posix.effectiveUid());
    }

    /** The same for a server that runs as user {@code own}. */
    static Optional<WorkerUser> of(ModelConfig config, long own) {
        String text = ProcessLimits.text(config, PARAMETER);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (!NAME.matcher(text).matches()) {
            throw ProcessLimits.wrong(PARAMETER, text, "the name or the number of a user");
        }
        WorkerUser user = find(text)
                .orElseThrow(
                        () -> ProcessLimits.wrong(PARAMETER, text, "a user whom this system knows (getent passwd)"));
        if (user.uid() == own) {
            return Optional.empty();
        }
        if (own != 0) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(PARAMETER),
                    "parameter '" + PARAMETER + "' is '" + text + "', but only a server that runs as root can start"
                            + " processes of other users, and this one runs as user " + own,
                    "leave the parameter out, or start the server as root");
        }
        return Optional.of(user);
    }

    private static Optional<WorkerUser> find(String text) {
        try {
            ShortProcess asked = ShortProcess.run(new ProcessBuilder("getent", "passwd", text), ASKING_SECONDS);
            Matcher entry = ENTRY.matcher(asked.output());
            return asked.succeeded() && entry.matches()
                    ? Optional.of(new WorkerUser(
                            entry.group(1),
                            Long.parseLong(entry.group(2)),
                            Long.parseLong(entry.group(3)),
                            entry.group(4)))
                    : Optional.empty();
        } catch (IOException e) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(PARAMETER),
                    "parameter '" + PARAMETER + "' needs the program getent, which cannot be run: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** What comes in front of a program that is to run as this user, without any right of the server's. */
    List<String> command() {
        return List.of(
                "setpriv", "--reuid=" + uid, "--regid=" + gid, "--init-groups", "--inh-caps=-all", "--no-new-privs");
    }

    Map<String, String> environment() {
        return Map.of("HOME", home, "USER", name, "LOGNAME", name);
    }
}
