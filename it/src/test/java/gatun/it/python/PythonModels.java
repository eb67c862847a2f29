// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import gatun.testing.Python;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes Python models into a repository. */
final class PythonModels {
    private final Path repository;

    PythonModels(Path repository) {
        this.repository = repository;
    }

    /** The flag by which models run in a Python with numpy. */
    static String executable() {
        return "--backend-config=python,executable=" + Python.with("numpy");
    }

    /** A model with inputs and outputs of one variable dimension each. */
    void write(String name, String configuration, String source) {
        write(name, configuration);
        try {
            Files.writeString(
                    Files.createDirectories(repository.resolve(name).resolve("1"))
                            .resolve("model.py"),
                    source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void write(String name, String configuration) {
        try {
            Files.writeString(
                    Files.createDirectories(repository.resolve(name)).resolve("config.pbtxt"),
                    "backend: \"python\"\n" + configuration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An input of a configuration. */
    static String input(String name, String datatype, String dims) {
        return "input { name: \"" + name + "\" data_type: TYPE_" + datatype + " dims: [" + dims + "] }\n";
    }

    /** An output of a configuration. */
    static String output(String name, String datatype, String dims) {
        return "output { name: \"" + name + "\" data_type: TYPE_" + datatype + " dims: [" + dims + "] }\n";
    }
}
