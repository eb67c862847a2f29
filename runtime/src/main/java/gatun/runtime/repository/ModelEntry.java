// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.execution.LoadWatch;
import gatun.runtime.execution.ServedModel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;

/** A repository's model and versions: an immutable list behind a volatile field, read by every request. */
final class ModelEntry {
    private final ModelIdentifier model;

    /** Keeps two changes of the versions apart; held for a few steps only. */
    private final ReentrantLock changing = new ReentrantLock();

    private volatile List<VersionEntry> versions = List.of();
    /** The highest version that is ready, which requests without a version get. */
    private volatile Optional<ServedModel> latest = Optional.empty();

    private volatile List<String> readyVersions = List.of();

    // Written by the changes of this model, of which there is one at a time.
    private volatile Optional<ModelSource> loaded = Optional.empty();
    private volatile Optional<ModelSource> attempted = Optional.empty();

    private volatile boolean wanted;
    /** Whether the model's files are gone, and it is known only to those who ask for it by name. */
    private volatile boolean departed;
    /** Whether versions that serve carry a reason of {@link #refuse}. */
    private volatile boolean refused;

    ModelEntry(ModelIdentifier model) {
        this.model = model;
    }

    ModelIdentifier model() {
        return model;
    }

    String name() {
        return model.name();
    }

    boolean isKnown() {
        return attempted.isPresent();
    }

    /** The source that the versions that serve were loaded from; empty when none serves. */
    Optional<ModelSource> loaded() {
        return loaded;
    }

    /** The source of the latest load, whether it succeeded or not; empty when the model is not to be served. */
    Optional<ModelSource> attempted() {
        return attempted;
    }

    /** Whether the source of the latest load asks a model of that name. */
    boolean asks(String name) {
        Optional<ModelSource> latest = attempted;
        return latest.isPresent() && latest.get().asks(name);
    }

    /** Notes that the versions that serve now came from {@code source}. */
    void loaded(Optional<ModelSource> source) {
        loaded = source;
        attempted = source;
    }

    /** Notes a load that failed, while what served before goes on. */
    void attempted(ModelSource source) {
        attempted = Optional.of(source);
    }

    /** Whether somebody asked for this model by its name, and not only because another model asks it. */
    boolean wanted() {
        return wanted;
    }

    void setWanted(boolean byName) {
        wanted = byName;
    }

    /** Whether the model's files are gone, so that no index lists it any more. */
    boolean departed() {
        return departed;
    }

    void departed(boolean gone) {
        departed = gone;
    }

    void update(UnaryOperator<List<VersionEntry>> change) {
        changing.lock();
        try {
            List<VersionEntry> next = List.copyOf(change.apply(versions));
            List<ServedModel> ready = next.stream()
                    .filter(VersionEntry::isReady)
                    .flatMap(entry -> entry.model().stream())
                    .toList();
            versions = next;
            readyVersions = ready.stream().map(ServedModel::versionText).toList();
            latest = ready.isEmpty() ? Optional.empty() : Optional.of(ready.getLast());
        } finally {
            changing.unlock();
        }
    }

    /** Says why the model cannot be loaded now; serving versions go on. A model of unknown kind is not required. */
    void refuse(String reason) {
        refused = serves();
        update(before -> before.stream().anyMatch(VersionEntry::isReady)
                ? before.stream()
                        .map(version -> version.isReady() ? version.because(reason) : version)
                        .toList()
                : List.of(VersionEntry.failed(name(), "", "", reason, Duration.ZERO)
                        .optional()));
    }

    /** Takes back the reason of {@link #refuse}: the files are again those that serve. */
    void accept() {
        if (loaded.equals(attempted) && refused) {
            refused = false;
            update(before -> before.stream()
                    .map(version -> version.isReady() ? version.because("") : version)
                    .toList());
        }
    }

    boolean serves() {
        return latest.isPresent();
    }

    /** Whether what serves was made for other models than those that it asks now. */
    boolean outdated() {
        return latest.map(ServedModel::outdated).orElse(false);
    }

    List<VersionEntry> versions() {
        return versions;
    }

    /** The progress of a version's load; of no load where another version serves in its place meanwhile. */
    LoadWatch loading(long version) {
        String text = Long.toString(version);
        return versions.stream()
                .filter(entry -> entry.version().equals(text))
                .flatMap(entry -> entry.loading().stream())
                .findFirst()
                .orElseGet(LoadWatch::new);
    }

    List<String> readyVersions() {
        return readyVersions;
    }

    ServedModel latest() {
        Optional<ServedModel> found = latest;
        if (found.isEmpty() || found.get().unavailability().isPresent()) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND, "Request for unknown model: '" + name() + "' has no available versions");
        }
        return found.get();
    }

    /** The ready version of that number. */
    ServedModel version(long number) {
        List<VersionEntry> all = versions;
        for (int i = 0; i < all.size(); i++) {
            VersionEntry entry = all.get(i);
            Optional<ServedModel> model = entry.model();
            if (entry.isReady()
                    && model.isPresent()
                    && model.get().version() == number
                    && model.get().unavailability().isEmpty()) {
                return model.get();
            }
        }
        throw absent(number, all);
    }

    static GatunException unknown(String name) {
        return new GatunException(ErrorCode.NOT_FOUND, "Request for unknown model: '" + name + "' is not found");
    }

    /** The failure for a version that exists and cannot answer now. */
    static GatunException notReady(String name, String version) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "Request for unknown model: '" + name + "' version " + version + " is not at ready state");
    }

    private GatunException absent(long number, List<VersionEntry> all) {
        String text = Long.toString(number);
        if (all.stream().anyMatch(entry -> entry.version().equals(text))) {
            return notReady(name(), text);
        }
        return new GatunException(
                ErrorCode.NOT_FOUND, "Request for unknown model: '" + name() + "' version " + text + " is not found");
    }
}
