// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.List;
import java.util.Set;

/**
 * A kind of model file. The engine that {@linkplain Backend#formats declares} it runs the models whose configuration
 * names the format's backend and platform, and those without a configuration that have such a file.
 *
 * @param fileName the file's name in the folder of a version
 * @param backend the name in a configuration's {@code backend}; engines of different platforms may share one
 * @param platforms what a configuration calls the format where it names no backend, the usual name first; none where a
 *     platform tells nothing
 * @param precedence the place among the files of a folder that holds several kinds; the lowest is the model's
 * @param traits how such files are found and used
 */
public record ModelFormat(String fileName, String backend, List<String> platforms, int precedence, Set<Trait> traits) {
    /** How files of a format are found and used. */
    public enum Trait {
        /** Whatever has this ending is such a model, by whatever name, wherever it lies. */
        KNOWN_BY_ENDING,
        /** A file with this ending is a whole model, which is served alone where an operator names it. */
        ALONE_BY_ENDING,
        /** The same of a file with this whole name: its ending is of much else. */
        ALONE_BY_NAME,
        /** The model is a folder of this name. */
        FOLDER,
        /** The folder that holds the file is the model: that of the version, or the {@link #FOLDER} of the same backend. */
        FOLDER_OF_FILE,
        /** Clients exchange tensors without dimensions with such a model, also where it does not batch. */
        SCALARS,
        /** Where a configuration names the backend, the engine finds the file by the configuration's parameters. */
        FILE_BY_PARAMETER
    }

    /** Keeps copies. */
    public ModelFormat {
        platforms = List.copyOf(platforms);
        traits = Set.copyOf(traits);
    }

    /** A format without a platform. */
    public static ModelFormat of(String fileName, String backend, int precedence, Trait... traits) {
        return new ModelFormat(fileName, backend, List.of(), precedence, Set.of(traits));
    }

    /** The same format with names of its platform, the one that is filled in first. */
    public ModelFormat platform(String... names) {
        return new ModelFormat(fileName, backend, List.of(names), precedence, traits);
    }

    /** The platform that is filled in; empty where there is none. */
    public String platform() {
        return platforms.isEmpty() ? "" : platforms.getFirst();
    }

    /** Whether the format has that trait. */
    public boolean is(Trait trait) {
        return traits.contains(trait);
    }

    /** Whether a name of a file ends as the format's own does. */
    public boolean hasEnding(String name) {
        return ending(name).equals(ending(fileName));
    }

    private static String ending(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
