package gatun.runtime.repository;

import gatun.runtime.ModelState;
import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.execution.ServedModel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds the members of ensembles among the models of the repository.
 *
 * @param entries the models by name, as they are at the moment
 */
record RepositoryMembers(Supplier<Map<String, ModelEntry>> entries) implements MemberModels {
    @Override
    public ServedModel member(String name, long version) {
        ModelEntry entry = Optional.ofNullable(entries.get().get(name)).orElseThrow(() -> ModelEntry.unknown(name));
        return version == LATEST ? entry.latest() : entry.version(version);
    }

    @Override
    public Optional<String> missing(String ensemble, String name, long version) {
        List<VersionEntry> versions = Optional.ofNullable(entries.get().get(name))
                .map(ModelEntry::versions)
                .orElse(List.of());
        boolean anyReady = false;
        boolean found = false;
        for (VersionEntry entry : versions) {
            VersionEntry now = entry.now();
            if (now.state() == ModelState.READY) {
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
                .map(entry -> entry.now().reason())
                .filter(reason -> !reason.isEmpty())
                .findFirst();
        return Optional.of(subject + "which has no loaded version."
                + failure.map(reason -> " Model '" + name + "' loading failed with error: " + reason)
                        .orElse(""));
    }
}
