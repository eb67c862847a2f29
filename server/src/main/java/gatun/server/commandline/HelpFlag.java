// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The flag that asks for the flags of a command instead of running it. */
final class HelpFlag {
    private HelpFlag() {}

    /** A new flag, for one command. It is made without annotations: to read those costs a tenth of a start. */
    static OptionSpec create() {
        return OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("Show this text.")
                .build();
    }

    static CommandSpec mixin() {
        return CommandSpec.create().addOption(create());
    }
}
