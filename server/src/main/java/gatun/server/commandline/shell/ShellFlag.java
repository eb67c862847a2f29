// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A flag as a shell completes it.
 *
 * @param names its names, with their dashes
 * @param description one line
 * @param value whether it takes a value
 * @param label what the help calls a value
 * @param values what a value may be
 */
record ShellFlag(List<String> names, String description, Value value, String label, ShellValues values) {
    /** Whether a flag takes a value. */
    enum Value {
        /** It does not. */
        NONE,
        /** It may stand without one. */
        OPTIONAL,
        REQUIRED
    }

    static ShellFlag of(OptionSpec flag) {
        Value value = flag.arity().max() == 0 ? Value.NONE : flag.arity().min() == 0 ? Value.OPTIONAL : Value.REQUIRED;
        return new ShellFlag(
                Arrays.asList(flag.names()),
                ShellCommand.line(flag.description()),
                value,
                flag.paramLabel(),
                ShellValues.of(flag));
    }

    boolean takesValue() {
        return value != Value.NONE;
    }

    /** The names that begin with two dashes; all where there are none. */
    List<String> longNames() {
        List<String> found =
                names.stream().filter(name -> name.startsWith("--")).toList();
        return found.isEmpty() ? names : found;
    }
}
