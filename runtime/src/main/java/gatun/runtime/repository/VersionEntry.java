package gatun.runtime.repository;

import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import gatun.runtime.execution.ServedModel;
import java.time.Duration;
import java.util.Optional;

/**
 * A version in the index, at one moment of its life. Immutable: a change replaces it.
 *
 * @param model the version itself; empty unless it is or was ready
 */
record VersionEntry(
        String name,
        String version,
        String backend,
        ModelState state,
        String reason,
        Duration loadTime,
        Optional<ServedModel> model) {

    /** A version that could not be loaded, or the whole model when {@code version} is empty. */
    static VersionEntry failed(String name, String version, String backend, String reason, Duration loadTime) {
        return new VersionEntry(name, version, backend, ModelState.UNAVAILABLE, reason, loadTime, Optional.empty());
    }

    /** A version that answers requests. */
    static VersionEntry ready(ServedModel model, Duration loadTime) {
        return new VersionEntry(
                model.name(),
                model.versionText(),
                model.config().getBackend(),
                ModelState.READY,
                "",
                loadTime,
                Optional.of(model));
    }

    /** This version as it is now: one that asks a model which cannot answer cannot answer either. */
    VersionEntry now() {
        if (state != ModelState.READY || model.isEmpty()) {
            return this;
        }
        return model.get()
                .unavailability()
                .map(why -> in(ModelState.UNAVAILABLE, why))
                .orElse(this);
    }

    /** The same version in another state. */
    VersionEntry in(ModelState newState, String newReason) {
        return new VersionEntry(name, version, backend, newState, newReason, loadTime, model);
    }

    ModelStatus status() {
        return new ModelStatus(name, version, backend, state, reason, loadTime);
    }
}
