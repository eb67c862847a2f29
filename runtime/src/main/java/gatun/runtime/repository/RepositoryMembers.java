// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.execution.ServedModel;
import java.util.List;
import java.util.Optional;

/**
 * Finds the members of ensembles among the models of the repository.
 *
 * @param models the models by name
 */
record RepositoryMembers(ModelTable models) implements MemberModels {
    @Override
    public ServedModel member(String name, long version) {
        ModelEntry entry = models.find(name).orElseThrow(() -> ModelEntry.unknown(name));
        return version == LATEST ? entry.latest() : entry.version(version);
    }

    @Override
    public Optional<String> missing(String ensemble, String name, long version) {
        List<VersionEntry> versions =
                models.find(name).map(ModelEntry::versions).orElse(List.of());
        boolean anyReady = false;
        boolean found = false;
        for (VersionEntry entry : versions) {
            VersionEntry now = entry.now();
            if (now.isReady()) {
                anyReady = true;
                found |= version == LATEST || now.version().equals(Long.toString(version));
            }
        }
        if (found) {
            return Optional.empty();
        }
        String subject = "ensemble '" + ensemble + "' depends on '" + name + "' ";
        if (anyReady) {
            return Optional.of(subject + "whose required version " + version + " is not loaded.");
        }
        Optional<String> failure = versions.stream()
                .flatMap(entry -> entry.now().loadFailure().stream())
                .findFirst();
        return Optional.of(subject + "which has no loaded version."
                + failure.map(reason -> " Model '" + name + "' loading failed with error: " + reason)
                        .orElse(""));
    }
}
