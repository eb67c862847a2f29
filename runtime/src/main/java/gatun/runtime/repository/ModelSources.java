// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.runtime.ModelSettings.Loading;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.RequestedConfiguration;
import gatun.runtime.configuration.RequestedConfiguration.Operators;
import gatun.wire.inference.ModelConfig;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Finds and reads sources of models; {@code gate} admits load requests, {@code uploads} has their files. */
record ModelSources(
        Loading loading, ModelList list, TemporaryFolder uploads, RequestGate gate, CoalescedScan directories) {
    ModelSources(
            ModelLocations locations, Loading loading, ModelList list, TemporaryFolder uploads, Backends backends) {
        this(
                loading,
                list,
                uploads,
                new RequestGate(loading, backends),
                new CoalescedScan(() -> RepositoryScan.scan(locations, loading.namespacing())));
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
                    ModelConfiguration.ofLooseModel(loose.name(), loose.fileName(), loading.autoComplete());
            return read(directory, config, false, Optional.empty());
        }
        ModelConfig config = directory.listed()
                ? ModelConfiguration.writtenAs(
                        gate.engines(),
                        directory.name(),
                        directory.path(),
                        loading.configName(),
                        loading.autoComplete())
                : ModelConfiguration.written(
                        gate.engines(),
                        directory.name(),
                        directory.path(),
                        loading.configName(),
                        loading.autoComplete());
        return read(directory, list.apply(config), false, Optional.empty());
    }

    /**
     * The source as a load request changes it. {@code directory}, the model's in the repositories, is not looked at
     * when the request brings files. Throws OverrideRefusedException for what only the operator may say, and other
     * GatunExceptions with the reason when nothing can be loaded.
     */
    ModelSource read(String name, Optional<ModelDirectory> directory, ModelOverride override) {
        if (override.files().isEmpty()) {
            ModelDirectory found = directory.orElseThrow(() -> GatunException.invalidArgument("there is no directory '"
                    + name + "' in the model repository; expected one with a sub-directory for each version"));
            return override.isEmpty()
                    ? read(found)
                    : read(found, configuration(name, override, directory, found), true, Optional.empty());
        }
        OverrideFiles files = OverrideFiles.write(uploads, name, override.files());
        try {
            ModelConfig config = configuration(name, override, directory, files.directory());
            return read(files.directory(), config, true, Optional.of(files));
        } catch (RuntimeException | Error e) {
            files.delete();
            throw e;
        }
    }

    /** @param files where the model's files are */
    private ModelConfig configuration(
            String name, ModelOverride override, Optional<ModelDirectory> directory, ModelDirectory files) {
        ModelConfig written = ModelConfiguration.written(name, override.config());
        if (!override.ofOperator()) {
            return gate.admit(written, directory, files);
        }
        return files.loose()
                .flatMap(LooseModel::fileName)
                .map(file -> ModelConfiguration.ofFile(written, file))
                .orElse(written);
    }

    private static ModelSource read(
            ModelDirectory directory, ModelConfig config, boolean overridden, Optional<OverrideFiles> files) {
        ModelChecksums checksums = ModelChecksums.of(config.getModelRepositoryAgents(), directory.path());
        SortedSet<Long> present = directory.versions();
        ModificationStamp configuration = directory.configurationStamp();
        ModificationStamp base = directory.stamp();
        SortedMap<Long, ModificationStamp> versions = new TreeMap<>();
        for (long version : VersionPolicy.choose(config.getVersionPolicy(), present)) {
            versions.put(version, directory.stamp(version));
        }
        return new ModelSource(
                directory,
                config,
                present,
                new ModelSource.Stamps(versions, configuration, base),
                overridden,
                files,
                checksums);
    }

    /** Decides for every protocol which configuration and files of load requests are taken. Thread-safe. */
    record RequestGate(Loading loading, Backends backends) {
        /**
         * The configuration to load. {@code operators}: the name's directory in repositories or list, empty for none.
         * Throws OverrideRefusedException for what the request may not decide, and when the operator's is unreadable.
         */
        ModelConfig admit(ModelConfig requested, Optional<ModelDirectory> operators, ModelDirectory files) {
            boolean bringsFiles = !operators.equals(Optional.of(files));
            Operators own = operators.map(this::operators).orElseGet(() -> Operators.none(requested.getName()));
            ModelConfig admitted = RequestedConfiguration.admit(requested, own, bringsFiles);
            Set<String> engines = engines(admitted, files);
            if (bringsFiles || !own.tellEngine()) {
                engines.forEach(engine -> requireLeave(requested.getName(), engine));
            }
            return RequestedConfiguration.withParameters(admitted, requested, parameters(engines));
        }

        private EngineCatalog engines() {
            return backends.catalog();
        }

        private Operators operators(ModelDirectory directory) {
            Optional<LooseModel> loose = directory.loose();
            ModelConfig written = loose.isPresent()
                    ? ModelConfiguration.ofLooseModel(
                            loose.get().name(), loose.get().fileName(), true)
                    : ModelConfiguration.ofOperator(directory.name(), directory.path(), loading.configName());
            return new Operators(written, told(written, directory));
        }

        private List<ModelConfig> told(ModelConfig config, ModelDirectory directory) {
            return directory.versions().stream()
                    .flatMap(version ->
                            ModelConfiguration.told(
                                    engines(), config, directory.version(version), loading.autoComplete())
                                    .stream())
                    .toList();
        }

        /** The engines that run the versions; none for an ensemble. */
        private Set<String> engines(ModelConfig config, ModelDirectory directory) {
            Set<String> engines = new TreeSet<>();
            told(config, directory).forEach(told -> engines.add(engines().engine(told)));
            engines.remove("");
            return engines;
        }

        private Set<String> parameters(Set<String> engines) {
            Optional<Set<String>> common = engines.stream()
                    .map(engine -> (Set<String>) new HashSet<>(backends.requestParameters(engine)))
                    .reduce((names, others) -> {
                        names.retainAll(others);
                        return names;
                    });
            return common.orElse(Set.of());
        }

        private void requireLeave(String model, String engine) {
            if (!backends.takesUploads(engine)) {
                throw new OverrideRefusedException(
                        model,
                        "model '" + model + "' is one of backend '" + engine
                                + "', and no request may bring the files of such a"
                                + " model, or choose that backend: they are programs, or can open files, with the server's"
                                + " rights; put the model into the repository, or allow uploads with "
                                + Backends.allowUploads(engine));
            }
        }
    }
}
