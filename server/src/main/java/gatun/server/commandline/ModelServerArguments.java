package gatun.server.commandline;

import java.util.Arrays;
import java.util.stream.Stream;

/** The command line of TensorFlow Serving's program: as {@code gatun serve}, but listening only where that program does. */
final class ModelServerArguments {
    /** The command, named as the program. */
    private static final String COMMAND = "tensorflow_model_server";

    private ModelServerArguments() {}

    /** The arguments of {@code gatun} that stand for {@code arguments}; the same where they are not that program's. */
    static String[] translate(String[] arguments) {
        if (arguments.length == 0 || !arguments[0].equals(COMMAND)) {
            return arguments;
        }
        Stream<String> defaults =
                Stream.of("serve", "--allow-http=false", "--allow-grpc=false", "--allow-metrics=false", "--port=8500");
        return Stream.concat(defaults, Arrays.stream(arguments).skip(1)).toArray(String[]::new);
    }
}
