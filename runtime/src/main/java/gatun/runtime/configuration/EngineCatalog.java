// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.Backend;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What the engines of a server declare of themselves: asked without starting any of them. Immutable. */
public final class EngineCatalog {
    private final Map<String, Backend> engines = new TreeMap<>();
    private final List<ModelFormat> served;

    /** {@link #served} and the formats of engines that are not here, by precedence. */
    private final List<ModelFormat> formats;

    /** @param backends the engines; a later one hides an earlier one of the same name */
    public EngineCatalog(Collection<? extends Backend> backends) {
        backends.forEach(backend -> engines.put(backend.name(), backend));
        served = sorted(engines.values().stream().flatMap(backend -> backend.formats().stream()));
        List<ModelFormat> all = new ArrayList<>(served);
        AbsentEngines.FORMATS.stream()
                .filter(absent -> !isServed(absent.fileName()))
                .forEach(all::add);
        formats = sorted(all.stream());
    }

    private static List<ModelFormat> sorted(Stream<ModelFormat> formats) {
        return formats.sorted(Comparator.comparingInt(ModelFormat::precedence)).toList();
    }

    /** The formats of model files, by precedence; those too that no engine here runs. */
    List<ModelFormat> formats() {
        return formats;
    }

    boolean isServed(String fileName) {
        return served.stream().anyMatch(format -> format.fileName().equals(fileName));
    }

    /** The formats that texts name as examples: the first two that have platforms, in the order of their backends. */
    List<ModelFormat> examples() {
        List<ModelFormat> examples = new ArrayList<>();
        for (ModelFormat format : served) {
            boolean known =
                    examples.stream().anyMatch(example -> example.backend().equals(format.backend()));
            if (examples.size() < 2 && !known && !format.platforms().isEmpty()) {
                examples.add(format);
            }
        }
        examples.sort(Comparator.comparing(ModelFormat::backend));
        return examples;
    }

    /** The name of a model's file that texts name as an example; empty where no engine here has files of its own. */
    Optional<String> exampleFile() {
        return served.stream()
                .filter(format -> format.is(Trait.ALONE_BY_ENDING))
                .map(ModelFormat::fileName)
                .findFirst();
    }

    /**
     * The name of the engine that runs the model of a configuration whose backend and platform are complete: the backend,
     * unless another engine declares a format of that backend and platform.
     */
    public String engine(ModelConfig config) {
        for (Backend engine : engines.values()) {
            for (ModelFormat format : engine.formats()) {
                if (format.backend().equals(config.getBackend())
                        && format.platforms().contains(config.getPlatform())) {
                    return engine.name();
                }
            }
        }
        return config.getBackend();
    }

    /** Whether engines of different platforms share this name in configurations. */
    boolean isShared(String backend) {
        return engines.values().stream()
                        .filter(engine -> engine.formats().stream()
                                .anyMatch(format -> format.backend().equals(backend)))
                        .count()
                > 1;
    }

    /** The number of instances on the processor that a model gets whose complete configuration does not say it. */
    int instancesOnCpu(ModelConfig config) {
        Backend engine = engines.get(engine(config));
        return engine == null ? 1 : engine.instancesOnCpu();
    }

    List<String> usersOf(String field) {
        return engines.values().stream()
                .filter(engine -> engine.configurationFields().contains(field))
                .map(Backend::name)
                .toList();
    }

    /** The engines in the order of their names. */
    public Collection<Backend> engines() {
        return engines.values();
    }

    /** The names of the libraries that can be installed, in the order of the formats that they are for. */
    public List<String> libraries() {
        return engines.values().stream()
                .filter(engine -> !engine.libraries().isEmpty())
                .sorted(Comparator.comparingInt(
                        engine -> engine.formats().getFirst().precedence()))
                .flatMap(engine -> engine.libraries().stream())
                .toList();
    }

    /** Whether the clients of a model exchange tensors without dimensions, also where it does not batch. */
    boolean takesScalars(ModelConfig config) {
        return formats.stream()
                .anyMatch(
                        format -> format.is(Trait.SCALARS) && format.platforms().contains(config.getPlatform()));
    }

    /** The name that an engine finds a model by that has a file or folder of this name; empty for what is no model. */
    public Optional<String> standardName(String name) {
        return fileName(format -> format.is(Trait.KNOWN_BY_ENDING) && format.hasEnding(name));
    }

    /** The name by which engines find a model in this one file, which is named explicitly; empty for no whole model. */
    public Optional<String> looseName(String name) {
        boolean hasEnding = name.lastIndexOf('.') > 0;
        return fileName(
                format -> (format.is(Trait.ALONE_BY_NAME) && format.fileName().equals(name))
                        || (format.is(Trait.ALONE_BY_ENDING) && hasEnding && format.hasEnding(name)));
    }

    private Optional<String> fileName(Predicate<ModelFormat> wanted) {
        return formats.stream().filter(wanted).map(ModelFormat::fileName).findFirst();
    }

    /**
     * The files outside of a model's file that belong to it, as {@link Backend#companions} has them; an engine finds
     * the model by the name {@code copy}. Throws IOException when the model cannot be read.
     */
    public Map<Path, Path> companions(Path model, String copy) throws IOException {
        for (Backend engine : engines.values()) {
            if (engine.formats().stream().anyMatch(format -> format.fileName().equals(copy))) {
                return engine.companions(model, copy);
            }
        }
        return Map.of();
    }

    /** Whether a file of this name makes the folder that it lies in a model. */
    public boolean isInFolderOfModel(String fileName) {
        return formats.stream()
                .anyMatch(format ->
                        format.is(Trait.FOLDER_OF_FILE) && format.fileName().equals(fileName));
    }

    /** The name that an engine finds a folder by that is a model as it lies; empty for a folder that is none. */
    public Optional<String> folderName(Path folder) {
        return formats.stream()
                .filter(format ->
                        format.is(Trait.FOLDER_OF_FILE) && Files.isRegularFile(folder.resolve(format.fileName())))
                .findFirst()
                .flatMap(file -> fileName(
                        format -> format.is(Trait.FOLDER) && format.backend().equals(file.backend())));
    }

    /** A name without the ending of a format whose models are folders. */
    public String withoutFolderEnding(String name) {
        int dot = name.lastIndexOf('.');
        boolean isEnding =
                dot > 0 && formats.stream().anyMatch(format -> format.is(Trait.FOLDER) && format.hasEnding(name));
        return isEnding ? name.substring(0, dot) : name;
    }

    /** Whether a file or folder of this name in a version's folder tells the backend. */
    boolean tellsBackend(String name) {
        return AbsentEngines.LITE.equals(name)
                || formats.stream().anyMatch(format -> format.fileName().equals(name));
    }
}
