// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import picocli.CommandLine.Option;

/** Asks for the flags of a command instead of running it. */
final class HelpFlag {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this text.")
    boolean asked;
}
