// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ModelIdentifier;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * The files and configuration that a model is loaded from, as read from the repository: {@code config} as written,
 * neither completed nor with defaults; {@code overridden} by a load request, whose {@code files} this owns.
 */
record ModelSource(
        ModelDirectory directory,
        ModelConfig config,
        SortedSet<Long> present,
        Stamps stamps,
        boolean overridden,
        Optional<OverrideFiles> files,
        ModelChecksums checksums) {
    /** When the files of a model were changed; {@code base} is the stamp of everything else. */
    record Stamps(
            SortedMap<Long, ModificationStamp> versions, ModificationStamp configuration, ModificationStamp base) {}

    ModelIdentifier model() {
        return directory.model();
    }

    String name() {
        return directory.name();
    }

    SortedMap<Long, ModificationStamp> versions() {
        return stamps.versions();
    }

    /** Whether versions of both are the same where their directories are, whichever versions a list of models chooses. */
    boolean hasBaseOf(ModelSource other) {
        return !overridden
                && !other.overridden
                && directory.equals(other.directory)
                && stamps.configuration().equals(other.stamps.configuration())
                && stamps.base().equals(other.stamps.base())
                && withoutPolicy(config).equals(withoutPolicy(other.config));
    }

    private static ModelConfig withoutPolicy(ModelConfig config) {
        return config.toBuilder().clearVersionPolicy().build();
    }

    /** Whether both are the same but for the model's instances, as far as their configurations were written. */
    boolean isSameButForInstances(ModelSource other) {
        return directory.equals(other.directory)
                && stamps.base().equals(other.stamps.base())
                && versions().equals(other.versions())
                && ModelConfiguration.withoutInstances(config)
                        .equals(ModelConfiguration.withoutInstances(other.config));
    }

    /** Whether nothing has changed from one to the other. */
    boolean isSameAs(ModelSource other) {
        return hasBaseOf(other) && versions().equals(other.versions());
    }

    /** Whether this is {@code serving} without the override of a load request, and its files are unchanged. */
    boolean isOverriddenBy(ModelSource serving) {
        return !overridden
                && serving.overridden
                && serving.files.isEmpty()
                && directory.equals(serving.directory)
                && present.equals(serving.present)
                && stamps.configuration().equals(serving.stamps.configuration())
                && stamps.base().equals(serving.stamps.base())
                && serving.versions().entrySet().stream()
                        .allMatch(version -> directory.stamp(version.getKey()).equals(version.getValue()));
    }

    List<String> dependencies() {
        return config.getEnsembleScheduling().getStepList().stream()
                .map(ModelEnsembling.Step::getModelName)
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
    }

    boolean asks(String name) {
        return config.hasEnsembleScheduling() && dependencies().contains(name);
    }

    /** Gives up files that a load request brought; no version that was loaded from here runs any more. */
    void discard() {
        files.ifPresent(OverrideFiles::delete);
    }
}
