package gatun.runtime.repository;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.ModelState;
import gatun.runtime.execution.ServedModel;
import java.util.List;
import java.util.Optional;

/**
 * A name in the repository and its versions. Read by every request and changed by loading: the versions are one immutable
 * list behind a volatile field.
 */
final class ModelEntry {
    private final String name;
    private volatile List<VersionEntry> versions = List.of();
    /** The highest version that is ready, which requests without a version get. */
    private volatile Optional<ServedModel> latest = Optional.empty();

    private volatile List<String> readyVersions = List.of();

    ModelEntry(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    /** Replaces all versions, which are ascending; called by one thread at a time. */
    void versions(List<VersionEntry> next) {
        List<ServedModel> ready = next.stream()
                .filter(entry -> entry.state() == ModelState.READY)
                .flatMap(entry -> entry.model().stream())
                .toList();
        versions = List.copyOf(next);
        readyVersions = ready.stream().map(ServedModel::versionText).toList();
        latest = ready.isEmpty() ? Optional.empty() : Optional.of(ready.getLast());
    }

    /** The versions, ascending. */
    List<VersionEntry> versions() {
        return versions;
    }

    /** The ready versions in decimal, ascending. */
    List<String> readyVersions() {
        return readyVersions;
    }

    /** The highest ready version. */
    ServedModel latest() {
        Optional<ServedModel> found = latest;
        if (found.isEmpty() || found.get().unavailability().isPresent()) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND, "Request for unknown model: '" + name + "' has no available versions");
        }
        return found.get();
    }

    /** That version, if it is ready. */
    ServedModel version(long number) {
        List<VersionEntry> all = versions;
        for (int i = 0; i < all.size(); i++) {
            VersionEntry entry = all.get(i);
            Optional<ServedModel> model = entry.model();
            if (entry.state() == ModelState.READY
                    && model.isPresent()
                    && model.get().version() == number
                    && model.get().unavailability().isEmpty()) {
                return model.get();
            }
        }
        throw absent(number, all);
    }

    /** What is said of a name that no model has. */
    static GatunException unknown(String name) {
        return new GatunException(ErrorCode.NOT_FOUND, "Request for unknown model: '" + name + "' is not found");
    }

    private GatunException absent(long number, List<VersionEntry> all) {
        String text = Long.toString(number);
        if (all.stream().anyMatch(entry -> entry.version().equals(text))) {
            return new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "Request for unknown model: '" + name + "' version " + text + " is not at ready state");
        }
        return new GatunException(
                ErrorCode.NOT_FOUND, "Request for unknown model: '" + name + "' version " + text + " is not found");
    }
}
