// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import gatun.runtime.execution.ServedModel;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.Optional;

/**
 * A version in the index, at one moment of its life. Immutable: a change replaces it.
 *
 * @param version in decimal; empty when this stands for the whole model
 * @param reason why it is unavailable; for one that is ready, why the newest files are not what it serves; empty
 *     otherwise
 * @param required whether the server is ready only with this version
 * @param model the version itself; empty unless it is ready or was until now
 */
record VersionEntry(
        String name,
        String version,
        String engine,
        ModelState state,
        String reason,
        boolean required,
        Duration loadTime,
        Optional<ServedModel> model) {
    /** A version that is being loaded. */
    static VersionEntry loading(String name, String version) {
        return new VersionEntry(name, version, "", ModelState.LOADING, "", true, Duration.ZERO, Optional.empty());
    }

    /** A version that could not be loaded, or the whole model when {@code version} is empty. */
    static VersionEntry failed(String name, String version, String engine, String reason, Duration loadTime) {
        return new VersionEntry(
                name, version, engine, ModelState.UNAVAILABLE, reason, true, loadTime, Optional.empty());
    }

    /** A version that answers requests. */
    static VersionEntry ready(ServedModel model, Duration loadTime) {
        return new VersionEntry(
                model.name(),
                model.versionText(),
                engine(model.config()),
                ModelState.READY,
                "",
                true,
                loadTime,
                Optional.of(model));
    }

    /** The engine that a model of that configuration runs on, as far as it is known. */
    static String engine(ModelConfig config) {
        return config.getBackend().isEmpty() ? config.getPlatform() : config.getBackend();
    }

    /** This version as it is now: one that asks a model which cannot answer cannot answer either. */
    VersionEntry now() {
        if (state != ModelState.READY || model.isEmpty()) {
            return this;
        }
        return model.get()
                .unavailability()
                .map(why ->
                        new VersionEntry(name, version, engine, ModelState.UNAVAILABLE, why, required, loadTime, model))
                .orElse(this);
    }

    /** Why loading failed; empty where it did not, or nobody tried. */
    Optional<String> loadFailure() {
        return state == ModelState.UNAVAILABLE && !reason.equals(ModelStatus.UNLOADED)
                ? Optional.of(reason)
                : Optional.empty();
    }

    /** Whether this version itself is ready, without a look at the models that it asks. */
    boolean isReady() {
        return state == ModelState.READY;
    }

    /**
     * Whether this serves its files as they are: no later load has failed, and no model that it asks has changed its
     * kind.
     */
    boolean isCurrent() {
        return isReady()
                && reason.isEmpty()
                && !model.map(ServedModel::outdated).orElse(false);
    }

    /** The same version with another reason. */
    VersionEntry because(String newReason) {
        return new VersionEntry(name, version, engine, state, newReason, required, loadTime, model);
    }

    /** The same version, where the server may be ready without it. */
    VersionEntry optional() {
        return new VersionEntry(name, version, engine, state, reason, false, loadTime, model);
    }

    /** A version that answers no more, and lets running requests finish. */
    VersionEntry unloading() {
        return new VersionEntry(name, version, engine, ModelState.UNLOADING, "", false, loadTime, model);
    }

    /** A version that is gone because somebody wanted that. */
    VersionEntry gone() {
        return new VersionEntry(
                name, version, engine, ModelState.UNAVAILABLE, ModelStatus.UNLOADED, false, loadTime, Optional.empty());
    }

    ModelStatus status() {
        return new ModelStatus(name, version, engine, state, reason, loadTime);
    }
}
