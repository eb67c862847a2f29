// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.Arrays;
import picocli.CommandLine.Model.OptionSpec;

/** What flags are called. */
final class FlagNames {
    /** What a flag's long name begins with. */
    static final String DASHES = "--";

    private FlagNames() {}

    /** The long name that the help shows first, of several. */
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
