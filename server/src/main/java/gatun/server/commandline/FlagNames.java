// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.Arrays;
import picocli.CommandLine.Model.OptionSpec;

/** The names of flags. */
final class FlagNames {
    /** The prefix of a flag's long name. */
    static final String DASHES = "--";

    private FlagNames() {}

    /** The first of a flag's long names, which the help shows. */
    static String first(OptionSpec flag) {
        return Arrays.stream(flag.names())
                .filter(name -> name.startsWith(DASHES))
                .findFirst()
                .orElse(flag.longestName());
    }

    /** The name of the flag in an argument such as {@code --http-port=8000}. */
    static String ofArgument(String argument) {
        int equals = argument.indexOf('=');
        return equals < 0 ? argument : argument.substring(0, equals);
    }
}
