// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelOverride;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.wire.inference.ModelConfig;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * Finds and reads the sources that models are loaded from. Safe for any thread.
 *
 * @param sources the directories, and how configurations are read there
 * @param list the models that are served because a list names them
 * @param uploads where the files of load requests are
 * @param directories reads the directories of the repositories
 */
record ModelSources(
        RepositorySettings.Sources sources, ModelList list, TemporaryFolder uploads, SharedScan directories) {
    ModelSources(RepositorySettings.Sources sources, ModelList list, TemporaryFolder uploads) {
        this(sources, list, uploads, new SharedScan(() -> RepositoryScan.scan(sources)));
    }

    /** The models in the directories of the repositories and in the list; throws as {@link RepositoryScan#scan}. */
    SortedMap<ModelIdentifier, RepositoryScan.Finding> scan() {
        return list.addTo(directories.read());
    }

    /** The models of that name in the repositories and the list; throws as {@link RepositoryScan#scan}. */
    SortedMap<ModelIdentifier, RepositoryScan.Finding> named(String name) {
        SortedMap<ModelIdentifier, RepositoryScan.Finding> found = scan();
        found.keySet().removeIf(model -> !model.name().equals(name));
        return found;
    }

    /** @throws GatunException with the reason why nothing can be loaded from there */
    ModelSource read(ModelDirectory directory) {
        if (directory.loose().isPresent()) {
            LooseModel loose = directory.loose().get();
            ModelConfig config =
                    ModelConfiguration.ofLooseModel(loose.name(), loose.fileName(), sources.autoComplete());
            return read(directory, config, false, Optional.empty());
        }
        ModelConfig config = directory.listed()
                ? ModelConfiguration.writtenAs(
                        directory.name(), directory.path(), sources.configName(), sources.autoComplete())
                : ModelConfiguration.written(
                        directory.name(), directory.path(), sources.configName(), sources.autoComplete());
        return read(directory, list.apply(config), false, Optional.empty());
    }

    /**
     * The source of a model as a load request changes it.
     *
     * @param directory the model's directory in the repositories; not looked at when the request brings files
     * @throws GatunException with the reason why nothing can be loaded from there
     */
    ModelSource read(String name, Optional<ModelDirectory> directory, ModelOverride override) {
        if (override.files().isEmpty()) {
            ModelDirectory found = directory.orElseThrow(() -> GatunException.invalidArgument("there is no directory '"
                    + name + "' in the model repository; expected one with a sub-directory for each version"));
            if (override.isEmpty()) {
                return read(found);
            }
            ModelConfig config = ModelConfiguration.written(name, override.config());
            Optional<String> looseFile = found.loose().flatMap(LooseModel::fileName);
            return read(
                    found,
                    looseFile
                            .map(file -> ModelConfiguration.ofFile(config, file))
                            .orElse(config),
                    true,
                    Optional.empty());
        }
        ModelConfig config = ModelConfiguration.written(name, override.config());
        OverrideFiles files = OverrideFiles.write(uploads, name, override.files());
        try {
            return read(files.directory(), config, true, Optional.of(files));
        } catch (RuntimeException | Error e) {
            files.delete();
            throw e;
        }
    }

    private static ModelSource read(
            ModelDirectory directory, ModelConfig config, boolean overridden, Optional<OverrideFiles> files) {
        SortedSet<Long> present = directory.versions();
        ModificationStamp configuration = directory.configurationStamp();
        ModificationStamp base = directory.stamp();
        SortedMap<Long, ModificationStamp> versions = new TreeMap<>();
        for (long version : VersionPolicy.choose(config.getVersionPolicy(), present)) {
            versions.put(version, directory.stamp(version));
        }
        return new ModelSource(
                directory, config, present, new ModelSource.Stamps(versions, configuration, base), overridden, files);
    }
}
