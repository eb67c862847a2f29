// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Keeps flags with optional values from taking a model's path: {@code --log-verbose model.onnx}. */
final class OptionalValues {
    private OptionalValues() {}

    /** The same arguments, with the value that such a flag has by itself where the argument after it is no value. */
    static List<String> complete(CommandSpec command, List<String> arguments) {
        List<String> completed = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            OptionSpec flag = command.optionsMap().get(argument);
            boolean followed = i + 1 < arguments.size() && !arguments.get(i + 1).startsWith("-");
            if (flag != null && followed && mayStandAlone(flag) && !takes(flag, arguments.get(i + 1))) {
                completed.add(argument + "=" + flag.fallbackValue());
            } else {
                completed.add(argument);
            }
        }
        return completed;
    }

    /** Whether a value is optional, and not every text is one. */
    private static boolean mayStandAlone(OptionSpec flag) {
        return flag.arity().min() == 0 && flag.arity().max() > 0 && flag.converters().length > 0;
    }

    private static boolean takes(OptionSpec flag, String value) {
        ITypeConverter<?> converter = flag.converters()[0];
        try {
            return converter.convert(value) != null;
        } catch (Exception e) { // A converter may throw any, and says by it that this is no value.
            return false;
        }
    }
}
