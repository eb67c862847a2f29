// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagErrors.FlagNames;
import gatun.server.commandline.SettingSources.SettingSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Flags as environment variables: {@code GATUN_HTTP_PORT} is {@code --http-port}; several values on lines. */
final class EnvironmentVariables {
    private static final String PREFIX = "GATUN_";

    /** What Kubernetes sets for a service named {@code gatun}, {@code GATUN_PORT=tcp://...}, is no flag. */
    private static final String SERVICE_ADDRESS = "tcp://";

    /** Those that the launcher reads. */
    private static final Set<String> OF_LAUNCHER = Set.of("GATUN_BUILD", "GATUN_CACHE", "GATUN_JAVA_OPTS");

    private EnvironmentVariables() {}

    /** Whether a flag may have this name; a service of Kubernetes makes more such names. */
    static boolean mayBeFlag(String variable) {
        return variable.startsWith(PREFIX) && !OF_LAUNCHER.contains(variable);
    }

    static String name(OptionSpec flag) {
        return PREFIX
                + FlagNames.first(flag)
                        .substring(FlagNames.DASHES.length())
                        .replace('-', '_')
                        .toUpperCase(Locale.ROOT);
    }

    /** The flags that {@code environment} sets, among those that the help of {@code command} shows. */
    static List<SettingSource> read(CommandSpec command, Map<String, String> environment) {
        List<SettingSource> found = new ArrayList<>();
        for (OptionSpec flag : command.options()) {
            String name = name(flag);
            String value = environment.get(name);
            if (flag.hidden() || value == null || value.startsWith(SERVICE_ADDRESS)) {
                continue;
            }
            List<String> values = flag.isMultiValue()
                    ? value.lines().filter(line -> !line.isBlank()).toList()
                    : List.of(value);
            found.add(new SettingSource(flag, values, name));
        }
        return found;
    }
}
