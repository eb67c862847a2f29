// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.OverrideRefusedException;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.RequestedConfiguration;
import gatun.runtime.configuration.RequestedConfiguration.Operators;
import gatun.wire.inference.ModelConfig;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The gate that every load request passes, whatever protocol it came by: it decides which of the request's configuration
 * is taken, and whether the engine may take files of requests. Safe for any thread.
 *
 * @param sources how the operator's configurations are read
 * @param backends the engines, and what each lets requests do
 */
record RequestGate(RepositorySettings.Sources sources, Backends backends) {
    /**
     * The configuration that a model is loaded with.
     *
     * @param requested as the request has it
     * @param operators the directory of that name in the repositories or the list; empty for a model that is not there
     * @param files where the model's files are: {@code operators}, or what the request brought
     * @throws OverrideRefusedException with the first thing that is not the request's to decide
     * @throws gatun.memory.tensor.GatunException when the operator's configuration cannot be read
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

    private Operators operators(ModelDirectory directory) {
        Optional<LooseModel> loose = directory.loose();
        ModelConfig written = loose.isPresent()
                ? ModelConfiguration.ofLooseModel(
                        loose.get().name(), loose.get().fileName(), true)
                : ModelConfiguration.ofOperator(directory.name(), directory.path(), sources.configName());
        return new Operators(written, told(written, directory));
    }

    private List<ModelConfig> told(ModelConfig config, ModelDirectory directory) {
        return directory.versions().stream()
                .flatMap(version ->
                        ModelConfiguration.told(config, directory.version(version), sources.autoComplete()).stream())
                .toList();
    }

    /** The engines that run the versions; none for an ensemble. */
    private Set<String> engines(ModelConfig config, ModelDirectory directory) {
        Set<String> engines = new TreeSet<>();
        told(config, directory).forEach(told -> engines.add(ModelConfiguration.engine(told)));
        engines.remove("");
        return engines;
    }

    /** The parameters that every engine of the versions gives to requests. */
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
