// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.execution.ServedModel;
import java.util.List;
import java.util.Optional;

/** Finds the members of an ensemble among {@code models}, first in the ensemble's {@code namespace}. */
record RepositoryMembers(ModelTable models, String namespace) implements MemberModels {
    @Override
    public ServedModel member(String name, long version) {
        ModelEntry entry = models.member(namespace, name);
        if (entry == null) {
            throw ModelEntry.unknown(name);
        }
        return version == LATEST ? entry.latest() : entry.version(version);
    }

    @Override
    public Optional<String> missing(String ensemble, String name, long version) {
        ModelEntry member = models.member(namespace, name);
        if (member == null) {
            return Optional.of(
                    "ensemble " + ensemble + " contains models that are not available or ambiguous: " + name);
        }
        List<VersionEntry> versions = member.versions();
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
