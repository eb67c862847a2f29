// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.TensorFlow;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.io.File;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Libraries with operations that TensorFlow's own does not have, such as those of TF Text and Decision Forests. */
final class OpLibraries {
    private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator, Pattern.LITERAL);

    private OpLibraries() {}

    /** Loads files, separated as paths, for the life of the process; again has no effect. Throws UNAVAILABLE. */
    static void load(String list) {
        for (String file : paths(list)) {
            String named = TensorFlowBackend.opLibrary(file);
            Path path = Path.of(file).toAbsolutePath();
            if (!Files.isRegularFile(path)) {
                throw new GatunException(ErrorCode.UNAVAILABLE, named + " names no file");
            }
            load(path, named);
        }
    }

    /** Loads the libraries that a model's configuration names; all models have their operations then. */
    static void load(List<Path> libraries) {
        libraries.forEach(library -> load(library, "op_library_filename " + library));
    }

    /** @param named what a failure calls it */
    private static void load(Path library, String named) {
        try (Arena scratch = Arena.ofConfined();
                Status status = new Status()) {
            tensorflow_h.TF_LoadLibrary(scratch.allocateFrom(library.toString()), status.handle());
            status.check(named + ": TensorFlow " + TensorFlow.version()
                    + " cannot load it; expected a library that was built for this version");
        } catch (GatunException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, e.getMessage(), e);
        }
    }

    private static List<String> paths(String list) {
        return SEPARATOR
                .splitAsStream(list)
                .map(String::strip)
                .filter(file -> !file.isEmpty())
                .toList();
    }
}
