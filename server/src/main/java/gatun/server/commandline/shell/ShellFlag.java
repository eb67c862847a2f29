// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** A flag as a shell completes it: {@code label} is the help's name of a value, {@code values} are the choices. */
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
